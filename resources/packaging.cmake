# Installing and packing: the program, its desktop entry, icon and licences. Included at the end of the
# top level CMakeLists.txt; `make package` calls CPack.
include(GNUInstallDirs)

install(TARGETS pallascope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/resources/fonts/LICENSE-Inter.txt
  ${CMAKE_SOURCE_DIR}/resources/fonts/LICENSE-JetBrainsMono.txt
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(PALLASCOPE_BUILD_GUI)
  install(FILES ${CMAKE_SOURCE_DIR}/resources/pallascope.desktop
    DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES ${CMAKE_SOURCE_DIR}/resources/icons/pallascope.svg
    DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME pallascope)
set(CPACK_PACKAGE_VENDOR "The Pallascope authors")
set(CPACK_PACKAGE_CONTACT "The Pallascope authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # dpkg-shlibdeps finds Qt and the other libraries
include(CPack)
