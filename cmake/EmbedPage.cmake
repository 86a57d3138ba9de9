# Writes a page into OUTPUT, a C++ file that defines what src/LAYER/HEADER declares: PREFIXHtml, PREFIXCss and PREFIXJs.
# HTML is a file, STYLES and SCRIPTS are lists of files separated by commas, in the order they are put together.
#
# Scripts are ES modules, which other pages may load as they are. Here they become one script: their imports are left out,
# since what they import stands further up, and so is the word export. A name that two modules have at their top level is
# an error when the page is loaded, which test/page sees.
function(join_files list variable)
  string(REPLACE "," ";" files "${list}")
  set(joined "")
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(APPEND joined "${text}")
  endforeach()
  set(${variable} "${joined}" PARENT_SCOPE)
endfunction()

join_files("${HTML}" html)
join_files("${STYLES}" css)
join_files("${SCRIPTS}" js)
string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" js "${js}")
string(REGEX REPLACE "(^|\n)export " "\\1" js "${js}")
set(js "'use strict';\n(() => {\n${js}})();\n")

set(code "// Made by cmake/EmbedPage.cmake.\n#include \"${LAYER}/${HEADER}\"\n\nnamespace berth::${LAYER} {\n\n")
foreach(part IN ITEMS Html Css Js)
  string(TOLOWER ${part} name)
  string(APPEND code "const std::string_view ${PREFIX}${part} = R\"page~(${${name}})page~\";\n\n")
endforeach()
file(WRITE ${OUTPUT} "${code}}  // namespace berth::${LAYER}\n")
