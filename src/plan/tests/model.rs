//! A model check of the decisions; see below.
