@preconcurrency internal import Dispatch
internal import Foundation
internal import Synchronization

/// Reports that a file was written or replaced.
///
/// The watch follows the file's folder, because editors and apt replace a file: they write a new file and rename it. If a link
/// leads to the file, the watch also follows the folder of the link. The watch does not notice if a folder is renamed or
/// replaced. On kernels other than Linux, the watch does not notice if a file is written in place or a link changes.
final class FileWatch: Sendable {
    private let input: Input
    private let version: Mutex<FileVersion?>
    private let source: any DispatchSourceProtocol
    private let onChange: @Sendable () -> Void

    /// - Parameters:
    ///   - version: The version of the file that was read. If the file has changed since then, the change is reported, too.
    ///   - onChange: Called on a queue of the watch.
    init(_ input: Input, since version: FileVersion?, _ onChange: @escaping @Sendable () -> Void) throws {
        self.input = input
        self.version = Mutex(version)
        self.onChange = onChange
        let descriptor = FileWatch.open(input)
        if descriptor < 0 { throw CatalogError("\(input.name) cannot be watched. \(String(cString: strerror(errno)))") }
        let queue = DispatchQueue(label: "package-catalog.watch")
        source = FileWatch.source(descriptor, queue)
        source.setEventHandler { [weak self] in
            FileWatch.drain(descriptor)
            // Follow the folders again, because the link can now lead to another folder.
            FileWatch.follow(input, descriptor)
            self?.check()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        queue.async { self.check() }
    }

    func end() { source.cancel() }

    private func check() {
        guard let now = FileVersion(input) else { return }
        let isChanged = version.withLock { version in
            defer { version = now }
            return now != version
        }
        if isChanged { onChange() }
    }

    #if os(Linux)
    private static func open(_ input: Input) -> Int32 {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        if descriptor < 0 || follow(input, descriptor) { return descriptor }
        let failure = errno
        close(descriptor)
        errno = failure
        return -1
    }

    /// Subscribes to events of files that were completely written, or moved to the folder. A second call for the same
    /// folders has no effect.
    @discardableResult
    private static func follow(_ input: Input, _ descriptor: Int32) -> Bool {
        [input.file, URL(filePath: input.name)].allSatisfy { file in
            let folder = file.deletingLastPathComponent().path
            return inotify_add_watch(descriptor, folder, UInt32(IN_CLOSE_WRITE | IN_MOVED_TO)) >= 0
        }
    }

    private static func source(_ descriptor: Int32, _ queue: DispatchQueue) -> any DispatchSourceProtocol {
        DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    }

    /// Reads and ignores the waiting events.
    private static func drain(_ descriptor: Int32) {
        var events = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &events, events.count) > 0 {}
    }
    #else
    private static func open(_ input: Input) -> Int32 {
        Foundation.open(input.file.deletingLastPathComponent().path, O_EVTONLY)
    }

    private static func follow(_ input: Input, _ descriptor: Int32) {}

    private static func source(_ descriptor: Int32, _ queue: DispatchQueue) -> any DispatchSourceProtocol {
        DispatchSource.makeFileSystemObjectSource(fileDescriptor: descriptor, eventMask: .write, queue: queue)
    }

    private static func drain(_ descriptor: Int32) {}
    #endif
}

/// The attributes of a file that change when the file is written or replaced.
struct FileVersion: Equatable, Sendable {
    private let modified: Date?
    private let number: Int?
    private let size: Int?

    /// Nil if the file does not exist.
    init?(_ input: Input) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: input.file.path) else { return nil }
        modified = attributes[.modificationDate] as? Date
        number = (attributes[.systemFileNumber] as? NSNumber)?.intValue
        size = (attributes[.size] as? NSNumber)?.intValue
    }
}

extension Input {
    /// The file itself, even if the name is a link.
    fileprivate var file: URL { URL(filePath: name).resolvingSymlinksInPath() }
}
