// Throws through the C ABI (no wrapper in between) in the functions named by -DTHROW_IN_….
#include <berth_plugin.h>

#include <stdexcept>

namespace {

berth_code Sign(void*, berth_call*) { return BERTH_SUCCESS; }

berth_code Filter(void*, berth_call*, const berth_nodes*, uint8_t*) {
#if defined(THROW_IN_FILTER)
  throw std::runtime_error("no taste for nodes");
#endif
  return BERTH_SUCCESS;
}

berth_code Score(void*, berth_call*, const berth_nodes*, int64_t*) {
#if defined(THROW_IN_SCORE)
  throw 7;
#endif
  return BERTH_SUCCESS;
}

const berth_plugin_class* MakeClass() {
  static berth_plugin_class made{};
  made.size = sizeof(made);
  made.name = "Throws";
  made.filter_depends_on = BERTH_ON_NODE_AND_PODS;
  made.score_depends_on = BERTH_ON_NODE_AND_PODS;
  made.sign = Sign;
  made.filter = Filter;
  made.score = Score;
  return &made;
}

}  // namespace

extern "C" const berth_plugin_library_table* berth_plugin_library(const berth_host*) {
#if defined(THROW_ON_LOAD)
  throw std::runtime_error("not today");
#endif
  static const berth_plugin_class* const kClasses[] = {MakeClass()};
  static const berth_plugin_library_table kTable{BERTH_PLUGIN_ABI, sizeof(berth_plugin_library_table), kClasses, 1, 0};
  return &kTable;
}
