// All tests of the pages, in one browser.
import './modules_test.mjs';
import './views_test.mjs';
import './address_test.mjs';
import './keyboard_test.mjs';
import './accessibility_test.mjs';
import './safety_test.mjs';
import './console_test.mjs';
import './cluster_console_test.mjs';
