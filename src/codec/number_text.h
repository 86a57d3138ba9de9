// Numbers as text, the way Go writes them: what Kubernetes shows for a float is what strconv makes of it.
#pragma once

#include <string>

namespace berth::codec {

// A finite double as encoding/json writes it: the shortest text that reads back the same, with an exponent only below
// 1e-6 and from 1e21 on. 1000.0 is "1000".
std::string JsonNumber(double value);

// As FormatFloat(value, 'g', -1, 32), which sigs.k8s.io/yaml uses where a float stands for a string: 1234567.0 is
// "1.234567e+06".
std::string ShortFloat(double value);

}  // namespace berth::codec
