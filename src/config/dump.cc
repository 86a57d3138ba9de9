#include "config/dump.h"

#include <vector>

#include "base/check.h"
#include "codec/json.h"
#include "codec/json_writer.h"
#include "codec/yaml_writer.h"
#include "config/args_reader.h"
#include "config/file_conversion.h"

namespace berth::config {
namespace {

codec::Document ParseOwn(std::string json) {
  Result<codec::Document> document = codec::ParseJson(std::move(json), "");
  CHECK_WHY(document.ok(), "our own JSON must parse");
  return std::move(*document);
}

}  // namespace

std::string DumpJson(const KubeSchedulerConfiguration& configuration) {
  FileConfiguration file = ToFile(configuration);
  std::vector<codec::Document> args;  // referred to by the file's form
  for (size_t i = 0; i < file.profiles.size(); ++i) {
    for (size_t j = 0; j < file.profiles[i].plugin_config.size(); ++j) {
      const PluginConfig& config = configuration.profiles[i].plugin_config[j];
      args.push_back(ParseOwn(config.raw_args.empty() ? ArgsToJson(config.args) : config.raw_args));
      file.profiles[i].plugin_config[j].args.value = args.back().root();
    }
  }
  return codec::EncodeJson(file);
}

std::string DumpYaml(const KubeSchedulerConfiguration& configuration) {
  return codec::JsonToYaml(DumpJson(configuration));
}

}  // namespace berth::config
