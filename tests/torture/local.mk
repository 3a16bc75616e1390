# tests/torture
