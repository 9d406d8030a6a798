internal import CSQLite
@preconcurrency internal import Dispatch
internal import Foundation
internal import RowStore

/// The system's events of the files of a store.
///
/// SQLite writes the rows of each transaction to the write-ahead log, with `write`, before they can be read. Each write to the log makes an
/// event. The folder has an event if the main file or the log is made, moved or deleted.
extension StoreFiles {
    /// Watches the files. Reads and locks make no events.
    ///
    /// - Parameter handler: Called on a queue at each event, until the watch ends.
    /// - Returns: Nil if the files cannot be watched: on a file system that is not known to be local, or if the system's limit of
    ///   watches is reached.
    func watch(_ handler: @escaping @Sendable () -> Void) -> StoreWatch? {
        guard isLocal, let sources = sources(handler) else { return nil }
        for source in sources { source.activate() }
        return StoreWatch { for source in sources { source.cancel() } }
    }

    private static let queue = DispatchQueue(label: "CoreDataSource.watch", qos: .utility)
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

    private func sources(_ handler: @escaping @Sendable () -> Void) -> [any DispatchSourceProtocol]? {
        let (descriptor, error) = calls.watch(folder, written: [main, log])
        guard error == 0 else { return nil }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: StoreFiles.queue)
        let names = Set([main, log].map { ($0 as NSString).lastPathComponent })
        source.setEventHandler { if StoreFiles.takeEvents(descriptor, of: names) { handler() } }
        source.setCancelHandler { close(descriptor) }
        return [source]
    }

    /// Reads the waiting events.
    ///
    /// - Returns: Whether any event may be about one of the names.
    private static func takeEvents(_ descriptor: Int32, of names: Set<String>) -> Bool {
        var isAny = false
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                var start = 0
                while start + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                    let nameStart = start + MemoryLayout<inotify_event>.size
                    start = nameStart + Int(event.len)
                    // Only events of files in the folder have a name. All others are about the main file, the log or the folder,
                    // or say that events were lost.
                    let name = buffer[nameStart..<min(start, count)].prefix { $0 != 0 }
                    if event.len == 0 || names.contains(String(decoding: name, as: UTF8.self)) { isAny = true }
                }
            }
        }
        return isAny
    }
}

extension FileCalls {
    /// Returns a descriptor that becomes readable when one of the files is written, or a file is made, moved or deleted in the folder.
    fileprivate func watch(_ folder: String, written files: [String]) -> (descriptor: Int32, error: Int32) {
        var error = fault(.watch, folder)
        guard error == 0 else { return (-1, error) }
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return (-1, errno) }
        let names = UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        // Begin with the folder: if a file is made before the file itself is watched, the folder has an event.
        let itself = UInt32(IN_MOVE_SELF) | UInt32(IN_DELETE_SELF)
        if inotify_add_watch(descriptor, folder, names | itself) < 0 { error = errno }
        for file in files where error == 0 {
            if inotify_add_watch(descriptor, file, UInt32(IN_MODIFY)) < 0, errno != ENOENT { error = errno }
        }
        if error != 0 { close(descriptor) }
        return (error == 0 ? descriptor : -1, error)
    }
}
#else
extension StoreFiles {
    /// Whether the folder is on a local file system.
    private var isLocal: Bool {
        var system = statfs()
        return statfs(folder, &system) == 0 && system.f_flags & UInt32(MNT_LOCAL) != 0
    }

    /// The main file is not watched: for this, it would have to be opened, and closing it would end SQLite's locks. A commit does not write
    /// to the main file. SQLite has no locks on the log.
    private func sources(_ handler: @escaping @Sendable () -> Void) -> [any DispatchSourceProtocol]? {
        guard calls.fault(.watch, folder) == 0 else { return nil }
        let descriptors = [folder, log].map { open($0, O_EVTONLY | O_CLOEXEC) }
        guard descriptors.allSatisfy({ $0 >= 0 }) else {
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
            return nil
        }
        return descriptors.map { descriptor in
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename, .revoke],
                queue: StoreFiles.queue)
            source.setEventHandler(handler: handler)
            source.setCancelHandler { close(descriptor) }
            return source
        }
    }
}
#endif
