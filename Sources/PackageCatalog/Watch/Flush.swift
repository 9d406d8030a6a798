#if canImport(Glibc)
@preconcurrency internal import Glibc
#else
@preconcurrency internal import Darwin
#endif

/// Has what was printed seen now, also through a pipe.
///
/// It is not for all streams: standard input is locked while a line is waited for.
func flush() {
    fflush(stdout)
}
