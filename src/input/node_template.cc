#include "input/node_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "api/label_syntax.h"
#include "base/ascii.h"

namespace berth::input {

namespace {

constexpr size_t kMaxCount = 100'000;
constexpr size_t kMaxZones = 1'000;
constexpr size_t kMaxDevices = 128;    // per slice, the API's limit
constexpr int64_t kDefaultPods = 110;  // the kubelet's default

constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kRegion[] = "topology.kubernetes.io/region";

std::optional<size_t> ParseCount(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Names of the kubelet's own resources, and anything that looks like a vendor's.
bool IsResourceName(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "pods" || name == "ephemeral-storage" ||
         name.starts_with("hugepages-") || (name.find('/') != std::string_view::npos && name.find('/') > 0);
}

// "1.2.3", whatever follows a dash or a plus.
bool IsVersion(std::string_view text) {
  const std::vector<std::string_view> parts = base::Split(text.substr(0, text.find_first_of("-+")), '.');
  return parts.size() == 3 &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) { return ParseCount(part).has_value(); });
}

class TemplateParser {
 public:
  explicit TemplateParser(std::string_view text) : text_(text) {}

  Result<NodeTemplate> Parse() {
    for (const std::string_view part : base::Split(text_, ',')) TakePart(part);
    for (const char* name : {"cpu", "memory"}) {
      if (seen_.contains(name)) continue;
      problems_.push_back(fmt::format("{}: missing: expected cpu=N,memory=N, found \"{}\"", name, text_));
    }
    if (!seen_.contains("pods")) result_.resources.Set(Symbol("pods"), api::Quantity::FromInt(kDefaultPods));
    if (!problems_.empty()) return Error::InvalidArgument(fmt::format("{}", fmt::join(problems_, "\n")));
    return std::move(result_);
  }

 private:
  // `at` must be a part of the text.
  void Problem(std::string_view at, std::string_view what) {
    problems_.push_back(fmt::format("character {}: {}", at.data() - text_.data() + 1, what));
  }

  void TakePart(std::string_view part) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Problem(part, fmt::format("expected KEY=VALUE, found \"{}\"", part));
    }
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if (key == "devices") return TakeDevices(value);
    if (key.starts_with("device.")) return TakeDeviceProperty(part, key.substr(7), value);
    const bool is_taint = key.starts_with("taint.");
    if (!is_taint && !seen_.emplace(key).second) {
      const std::string hint =
          result_.devices.empty() ? "" : fmt::format("; what its devices have is said with device.{}=…", key);
      return Problem(part, fmt::format("{} is given twice{}", key, hint));
    }
    if (key == "count") return TakeCount(value);
    if (key == "name") return TakeName(value);
    if (key == "zones") return TakeZones(value);
    if (key.starts_with("label.")) return TakeLabel(key.substr(6), value);
    if (is_taint) return TakeTaint(key.substr(6), value);
    if (IsResourceName(key)) return TakeResource(key, value);
    Problem(part,
            fmt::format("expected count, name, zones, label.KEY, taint.KEY, devices, device.KEY, cpu, memory, pods, "
                        "ephemeral-storage or a resource such as nvidia.com/gpu, found \"{}\"",
                        key));
  }

  void TakeCount(std::string_view value) {
    const std::optional<size_t> count = ParseCount(value);
    if (!count || *count < 1 || *count > kMaxCount) {
      return Problem(value, fmt::format("count: expected 1 to {}, found \"{}\"", kMaxCount, value));
    }
    result_.count = *count;
  }

  void TakeName(std::string_view value) {
    for (const std::string& wrong : api::DnsSubdomainProblems(value)) {
      Problem(value, fmt::format("name: bad name \"{}\": {}", value, wrong));
    }
    result_.name = value;
  }

  void TakeZones(std::string_view value) {
    if (const std::optional<size_t> count = ParseCount(value)) {
      if (*count < 1 || *count > kMaxZones) {
        return Problem(value, fmt::format("zones: expected 1 to {}, found {}", kMaxZones, value));
      }
      for (size_t i = 1; i <= *count; ++i) result_.zones.push_back(fmt::format("zone-{}", i));
      return;
    }
    for (const std::string_view zone : base::Split(value, ':')) {
      if (zone.empty()) Problem(zone, "zones: expected a number, or names with ':' between them, found \"\"");
      CheckLabel("zones", kZone, zone);
      result_.zones.emplace_back(zone);
    }
  }

  void CheckLabel(std::string_view what, std::string_view key, std::string_view value) {
    for (const std::string& wrong : api::LabelKeyProblems(key))
      Problem(key, fmt::format("{}: bad key: {}", what, wrong));
    for (const std::string& wrong : api::LabelValueProblems(value)) {
      Problem(value, fmt::format("{}: bad value \"{}\": {}", what, value, wrong));
    }
  }

  void TakeLabel(std::string_view key, std::string_view value) {
    CheckLabel(fmt::format("label.{}", key), key, value);
    result_.labels.Set(Symbol(key), Symbol(value));
  }

  void TakeTaint(std::string_view key, std::string_view value) {
    const size_t colon = value.rfind(':');
    const std::string_view effect = colon == std::string_view::npos ? value : value.substr(colon + 1);
    const std::string_view content = colon == std::string_view::npos ? std::string_view() : value.substr(0, colon);
    if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      return Problem(effect, fmt::format("taint.{}: expected [VALUE:]EFFECT with NoSchedule, PreferNoSchedule or "
                                         "NoExecute, found \"{}\"",
                                         key, value));
    }
    CheckLabel(fmt::format("taint.{}", key), key, content);
    result_.taints.push_back(
        {.key = Symbol(key), .value = Symbol(content), .effect = Symbol(effect), .time_added = {}});
  }

  void TakeResource(std::string_view key, std::string_view value) {
    const Result<api::Quantity> amount = api::Quantity::Parse(value);
    if (!amount) {
      return Problem(value, fmt::format("{}: expected a quantity such as 500m or 2Gi, found \"{}\"", key, value));
    }
    if (amount->Sign() < 0) return Problem(value, fmt::format("{}: must not be negative, found {}", key, value));
    result_.resources.Set(Symbol(key), *amount);
  }

  void TakeDevices(std::string_view value) {
    const size_t colon = value.rfind(':');
    const std::string_view driver = value.substr(0, colon);
    const std::optional<size_t> count =
        colon == std::string_view::npos ? std::optional<size_t>(1) : ParseCount(value.substr(colon + 1));
    if (driver.empty() || !count || *count < 1 || *count > kMaxDevices) {
      Problem(value, fmt::format("devices: expected DRIVER:N with N from 1 to {}, for instance gpu.example.com:8, "
                                 "found \"{}\"",
                                 kMaxDevices, value));
    }
    for (const std::string& wrong : api::DnsSubdomainProblems(driver)) {
      Problem(value, fmt::format("devices: bad driver \"{}\": {}", driver, wrong));
    }
    for (const DeviceTemplate& known : result_.devices) {
      if (known.driver == driver) Problem(value, fmt::format("devices: {} is given twice", driver));
    }
    result_.devices.push_back({std::string(driver), count.value_or(1), {}});
  }

  void TakeDeviceProperty(std::string_view part, std::string_view key, std::string_view value) {
    if (result_.devices.empty()) {
      return Problem(part, fmt::format("device.{}: expected devices=DRIVER:N in front of it, found none", key));
    }
    if (key.empty() || value.empty()) {
      return Problem(part, fmt::format("expected device.KEY=VALUE, found \"{}\"", part));
    }
    api::Device& like = result_.devices.back().like;
    const std::string name(key);
    if (like.attributes.Contains(name) || like.capacity.Contains(name)) {
      return Problem(part, fmt::format("device.{} is given twice", key));
    }
    for (const std::string& wrong : api::LabelKeyProblems(key)) {
      Problem(key, fmt::format("device.{}: bad key: {}", key, wrong));
    }
    if (const std::optional<api::Quantity> amount = AmountWithUnit(value)) {
      like.capacity.Set(name, {.value = *amount, .request_policy = {}});
    } else {
      like.attributes.Set(name, AttributeOf(value));
    }
  }

  // "80Gi" is an amount; "80" may be anything, and "1.2.3" is a version.
  static std::optional<api::Quantity> AmountWithUnit(std::string_view text) {
    const Result<api::Quantity> amount = api::Quantity::Parse(text);
    const bool has_unit = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0;
    if (!amount || !has_unit || amount->Sign() < 0) return std::nullopt;
    return *amount;
  }

  static api::DeviceAttribute AttributeOf(std::string_view text) {
    api::DeviceAttribute attribute;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text == "true" || text == "false") {
      attribute.bool_value = text == "true";
    } else if (error == std::errc() && end == text.data() + text.size()) {
      attribute.int_value = number;
    } else if (IsVersion(text)) {
      attribute.version_value = text;
    } else {
      attribute.string_value = text;
    }
    return attribute;
  }

  std::string_view text_;
  NodeTemplate result_;
  std::set<std::string, std::less<>> seen_;
  std::vector<std::string> problems_;
};

struct Zone {
  std::string name;
  std::string region;
};

// The zones of the nodes: those of the template, else those of existing nodes, else a zone of their own.
std::vector<Zone> ZonesFor(const NodeTemplate& node_template, std::span<const api::Node* const> existing) {
  std::map<std::string, std::string> known;  // zone to region
  for (const api::Node* node : existing) {
    const Symbol* zone = node->metadata.labels.Find(Symbol(kZone));
    const Symbol* region = node->metadata.labels.Find(Symbol(kRegion));
    if (zone) known.emplace(zone->str(), region ? region->str() : std::string_view("region-1"));
  }
  std::vector<Zone> zones;
  for (const std::string& name : node_template.zones) {
    const auto it = known.find(name);
    zones.push_back({name, it == known.end() ? "region-1" : it->second});
  }
  if (!zones.empty()) return zones;
  for (const auto& [name, region] : known) zones.push_back({name, region});
  if (zones.empty()) zones.push_back({"zone-1", "region-1"});
  return zones;
}

api::Node MakeNode(const NodeTemplate& node_template, std::string name, const Zone& zone) {
  api::Node node;
  node.metadata.labels.Set(Symbol("kubernetes.io/hostname"), Symbol(name));
  node.metadata.labels.Set(Symbol("kubernetes.io/os"), Symbol("linux"));
  node.metadata.labels.Set(Symbol("kubernetes.io/arch"), Symbol("amd64"));
  node.metadata.labels.Set(Symbol(kZone), Symbol(zone.name));
  node.metadata.labels.Set(Symbol(kRegion), Symbol(zone.region));
  for (const auto& [key, value] : node_template.labels) node.metadata.labels.Set(key, value);
  node.metadata.name = std::move(name);
  node.spec.taints = node_template.taints;
  node.status.capacity = node_template.resources;
  node.status.allocatable = node_template.resources;
  node.status.conditions = {{.type = "Ready", .status = "True"}};
  return node;
}

}  // namespace

Result<NodeTemplate> ParseNodeTemplate(std::string_view text) { return TemplateParser(text).Parse(); }

std::vector<api::Node> MakeNodes(const NodeTemplate& node_template, std::span<const api::Node* const> existing) {
  std::set<std::string_view> taken;
  for (const api::Node* node : existing) taken.insert(node->metadata.name);
  const std::vector<Zone> zones = ZonesFor(node_template, existing);
  std::vector<api::Node> nodes;
  for (size_t number = 1; nodes.size() < node_template.count; ++number) {
    std::string name = fmt::format("{}-{}", node_template.name, number);
    if (taken.contains(name)) continue;
    nodes.push_back(MakeNode(node_template, std::move(name), zones[nodes.size() % zones.size()]));
  }
  return nodes;
}

std::vector<api::Object> MakeDevices(const NodeTemplate& node_template, std::span<const api::Node> nodes) {
  std::vector<api::Object> objects;
  for (const DeviceTemplate& devices : node_template.devices) {
    api::DeviceClass device_class;
    device_class.metadata.name = devices.driver;
    device_class.spec.selectors = {{api::CELDeviceSelector{fmt::format("device.driver == \"{}\"", devices.driver)}}};
    objects.push_back(api::MakeObject(std::move(device_class)));
    for (const api::Node& node : nodes) {
      api::ResourceSlice slice;
      slice.metadata.name = fmt::format("{}-{}", node.metadata.name, devices.driver);
      slice.spec.driver = devices.driver;
      slice.spec.node_name = node.metadata.name;
      slice.spec.pool = {.name = node.metadata.name, .generation = 1, .resource_slice_count = 1};
      for (size_t i = 0; i < devices.count; ++i) {
        api::Device& device = slice.spec.devices.emplace_back(devices.like);
        device.name = fmt::format("device-{}", i);
      }
      objects.push_back(api::MakeObject(std::move(slice)));
    }
  }
  return objects;
}

}  // namespace berth::input
