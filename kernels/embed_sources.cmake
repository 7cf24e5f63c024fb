# Writes OUTPUT, a C++ file that holds the text of each of FILES (names in SOURCE_DIR, with commas), so
# that every trace carries its kernel's source. Run with cmake -P.
set(text "// Generated from the kernels' own files.\n#include \"kernels/kernel.h\"\n\n#include <array>\n\nnamespace pallascope::kernels {\n\n")
string(APPEND text "std::string_view sourceText(std::string_view file)\n{\n")
string(REPLACE "," ";" FILES "${FILES}")
foreach(name ${FILES})
  file(READ ${SOURCE_DIR}/${name} content)
  string(APPEND text "    if (file == \"kernels/${name}\") {\n        return R\"embedded(${content})embedded\";\n    }\n")
endforeach()
string(APPEND text "    return {};\n}\n\n} // namespace pallascope::kernels\n")
file(WRITE ${OUTPUT} "${text}")
