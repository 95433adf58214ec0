//! Tenuo proofs, with and without our five members (protocol P1, P3).
