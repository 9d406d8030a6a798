#if canImport(Glibc)
@preconcurrency internal import Glibc
#else
@preconcurrency internal import Darwin
#endif

/// Makes output visible now, also through a pipe.
///
/// It does not flush all streams, because standard input is locked while a line is read.
func flush() {
    fflush(stdout)
}
