# Writes OUTPUT, a C++ file whose FUNCTION returns all files of FILES (names in SOURCE_DIR) with their
# names. HEADER declares it. Run with cmake -P.
set(text "// Generated from resources.\n#include \"resources/${HEADER}\"\n\nnamespace pallascope::resources {\n\n")
string(APPEND text "const std::vector<EmbeddedFile>& ${FUNCTION}()\n{\n    static const std::vector<EmbeddedFile> kFiles{\n")
string(REPLACE "," ";" FILES "${FILES}")
foreach(name ${FILES})
  file(READ ${SOURCE_DIR}/${name} content)
  string(APPEND text "        {\"${name}\", R\"embedded(${content})embedded\"},\n")
endforeach()
string(APPEND text "    };\n    return kFiles;\n}\n\n} // namespace pallascope::resources\n")
file(WRITE ${OUTPUT} "${text}")
