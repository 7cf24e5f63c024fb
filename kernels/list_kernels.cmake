# Writes OUTPUT, a C++ file with the kernels of FILES (names in SOURCE_DIR, with commas) and the text of
# each file, so that every trace carries its kernel's source. Run with cmake -P.
string(REPLACE "," ";" FILES "${FILES}")
foreach(name ${FILES})
  # some_name.cpp defines someNameKernel().
  string(REGEX REPLACE "\\.cpp$" "" words ${name})
  string(REPLACE "_" ";" words ${words})
  set(function "")
  foreach(word ${words})
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 others)
    if(function)
      string(TOUPPER ${first} first)
    endif()
    string(APPEND function ${first}${others})
  endforeach()
  string(APPEND declarations "Kernel ${function}Kernel();\n")
  string(APPEND calls "${function}Kernel(), ")
  file(READ ${SOURCE_DIR}/${name} content)
  string(APPEND texts "    if (file == \"kernels/${name}\") {\n        return R\"embedded(${content})embedded\";\n    }\n")
endforeach()
string(CONCAT text "// Generated from the kernels' own files.\n#include \"kernels/kernel.h\"\n\n#include <array>\n\n"
  "namespace pallascope::kernels {\n\n${declarations}\n"
  "const std::vector<Kernel>& all()\n{\n    static const std::vector<Kernel> kKernels{${calls}};\n    return kKernels;\n}\n\n"
  "std::string_view sourceText(std::string_view file)\n{\n${texts}    return {};\n}\n\n} // namespace pallascope::kernels\n")
file(WRITE ${OUTPUT} "${text}")
