internal import Foundation

/// What shows whether a file was written.
struct FileState: Equatable {
    private let identity: FileIdentity
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    init(_ state: stat) {
        #if canImport(Darwin)
        let time = state.st_mtimespec
        #else
        let time = state.st_mtim
        #endif
        identity = FileIdentity(state)
        size = Int64(state.st_size)
        seconds = Int(time.tv_sec)
        nanoseconds = Int(time.tv_nsec)
    }
}
