internal import CSQLite
@preconcurrency internal import Dispatch
internal import Foundation
internal import RowStore

/// The system's events of the files of a store.
///
/// SQLite writes the rows of each transaction to the write-ahead log, with `write`, before they can be read. Each write to
/// the log makes an event. The folder has an event if the main file or the log is made, moved or deleted.
///
/// If a parent of the folder is renamed, there is no event, and none is needed: the watch still follows the same files and
/// the same folder, and the connections have these files open. A file that is made at the old path is not a file of the open
/// store.
extension StoreFiles {
    /// Watches the files. Reads and locks make no events.
    ///
    /// - Parameter handler: Called on a queue at each event, until the watch ends.
    /// - Returns: The watch. Nil if the file system is not known to be local, or if the files cannot be watched, for example
    ///   because the system's limit of watches is reached.
    func watch(_ handler: @escaping @Sendable () -> Void) -> StoreWatch? {
        guard isLocal, calls.fault(.watch, folder) == 0 else { return nil }
        return systemWatch(handler)
    }
}

#if os(Linux)
extension StoreFiles {
    /// Whether the folder is on a local file system. A network file system has no events of the writes of other machines.
    private var isLocal: Bool {
        // The magic numbers of ext2 to ext4, XFS, Btrfs, tmpfs, ramfs, overlayfs, F2FS, ZFS, bcachefs, JFS, ReiserFS, FAT, exFAT
        // and NTFS, from linux/magic.h. FUSE is missing, because it is used for network file systems, too.
        let local: Set<UInt32> = [
            0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x8584_58F6, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1,
            0xCA45_1A4E, 0x3153_464A, 0x5265_4973, 0x4D44, 0x2011_BAB0, 0x7366_746E,
        ]
        return local.contains(csqlite_file_system(folder))
    }

    private func systemWatch(_ handler: @escaping @Sendable () -> Void) -> StoreWatch? {
        let names = Set([main, log].map { ($0 as NSString).lastPathComponent })
        // Begin with the folder: if a file is made before the file itself is watched, the folder has an event.
        let changes = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_DELETE_SELF
        let targets =
            [Inotify.Target(path: folder, events: changes, names: names)]
            + [main, log].map { Inotify.Target(path: $0, events: IN_MODIFY, canBeMissing: true) }
        return Inotify.shared.watch(targets, handler)
    }
}
#else
extension StoreFiles {
    /// Whether the folder is on a local file system.
    private var isLocal: Bool {
        var system = statfs()
        return statfs(folder, &system) == 0 && system.f_flags & UInt32(MNT_LOCAL) != 0
    }

    /// Watches the folder and the log. To watch a file, the process must open the file, and closing it later ends all locks of
    /// the process on the file. SQLite has no locks on the log, so the log can be watched. The main file is not watched,
    /// because SQLite has locks on it. No commit is missed, because a commit does not write to the main file.
    private func systemWatch(_ handler: @escaping @Sendable () -> Void) -> StoreWatch? {
        let descriptors = [folder, log].map { open($0, O_EVTONLY | O_CLOEXEC) }
        guard descriptors.allSatisfy({ $0 >= 0 }) else {
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
            return nil
        }
        let sources = descriptors.map { descriptor in
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename, .revoke],
                queue: StoreFiles.queue)
            source.setEventHandler(handler: handler)
            source.setCancelHandler { close(descriptor) }
            return source
        }
        for source in sources { source.activate() }
        return StoreWatch { for source in sources { source.cancel() } }
    }

    private static let queue = DispatchQueue(label: "CoreDataSource.watch", qos: .utility)
}
#endif
