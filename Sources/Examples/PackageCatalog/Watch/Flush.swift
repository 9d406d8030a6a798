#if canImport(Glibc)
@preconcurrency internal import Glibc
#else
@preconcurrency internal import Darwin
#endif

/// Makes output visible now, even through a pipe.
///
/// Only standard output is flushed, because standard input is locked while a line is read.
func flush() {
    fflush(stdout)
}
