#if canImport(Glibc)
@preconcurrency internal import Glibc
#else
@preconcurrency internal import Darwin
#endif

/// Makes output visible now, even through a pipe.
///
/// Flushes only standard output. A flush of all streams would wait for standard input, which is locked while a line is
/// read.
func flush() {
    fflush(stdout)
}
