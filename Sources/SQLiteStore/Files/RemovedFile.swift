internal import Dispatch
internal import Foundation

/// The space of a file that is being removed, which another thread gives back: for a large file that takes tens of milliseconds.
///
/// The name is gone at once. The space is free when the last descriptor is closed, or the process ends.
struct RemovedFile {
    private let descriptor: Int32

    /// The least free space with which the caller does not wait for more, in bytes.
    private static let enough: UInt64 = 256 << 20

    /// - Parameter path: The file, which still has its name.
    init(_ path: String) {
        var disk = statvfs()
        // What is made next may need the space.
        let hasEnough =
            statvfs(path, &disk) == 0 && UInt64(disk.f_bavail) * UInt64(disk.f_frsize) > RemovedFile.enough
        descriptor = hasEnough ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1
    }

    /// Call it once the name is gone.
    func giveBackSpace() {
        guard descriptor >= 0 else { return }
        DispatchQueue.global(qos: .utility).async { [descriptor] in close(descriptor) }
    }

    /// The name could not be removed. Closing a descriptor ends all locks of the process on its file, so it is done before anybody opens
    /// the file again. (https://www.sqlite.org/howtocorrupt.html, 2.2)
    func keep() {
        if descriptor >= 0 { close(descriptor) }
    }
}
