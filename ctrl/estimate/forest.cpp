// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/forest.h"

// Its symbols are those of libdlib, of which nothing is linked.
#define DLIB_TEST_FOR_ODR_VIOLATIONS_H_
#include <dlib/threads.h>

#include <string>

// The trainer asks for a loop over the trees on dlib's own threads. These overloads fit its call
// better: without threads the sums are the same each time.
namespace dlib {

template <class Body>
void parallel_for(int from, std::size_t to, const Body& body) {
  for (auto i = static_cast<long>(from); i < static_cast<long>(to); ++i) body(i);
}

template <class Body>
void parallel_for_verbose(int from, std::size_t to, const Body& body) {
  parallel_for(from, to, body);
}

}  // namespace dlib

#include <dlib/random_forest.h>

namespace flowcon::ctrl::estimate {
namespace {

using Column = dlib::dense_feature_extractor::sample_type;

Column column_of(const std::vector<float>& row) {
  Column column(static_cast<long>(row.size()));
  for (std::size_t i = 0; i < row.size(); ++i) column(static_cast<long>(i)) = row[i];
  return column;
}

}  // namespace

struct Forest::Trees {
  dlib::random_forest_regression_function<dlib::dense_feature_extractor> function;
  std::vector<double> out_of_bag;
};

Forest::Forest(const Rows& rows, const std::vector<double>& values, std::uint64_t seed)
    : trees_(std::make_unique<Trees>()) {
  std::vector<Column> columns;
  columns.reserve(rows.size());
  for (const std::vector<float>& row : rows) columns.push_back(column_of(row));
  dlib::random_forest_regression_trainer<dlib::dense_feature_extractor> trainer;
  trainer.set_num_trees(80);
  trainer.set_min_samples_per_leaf(2);
  trainer.set_feature_subsampling_fraction(0.5);
  trainer.set_seed(std::to_string(seed));
  trees_->function = trainer.train(columns, values, trees_->out_of_bag);
}

Forest::~Forest() = default;

double Forest::predict(const std::vector<float>& row) const {
  return trees_->function(column_of(row));
}

const std::vector<double>& Forest::out_of_bag() const { return trees_->out_of_bag; }

}  // namespace flowcon::ctrl::estimate
