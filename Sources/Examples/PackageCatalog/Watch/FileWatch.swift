@preconcurrency internal import Dispatch
internal import Foundation
internal import Synchronization

/// Reports that a file was written or replaced.
///
/// It watches the file's folder, because a file that is written under another name and renamed, as editors and apt do it, is a
/// different file. If a link leads to the file, the folder of the link is watched too. It does not notice a folder that is
/// itself renamed or replaced and, on kernels other than Linux, a file that is written in place or a link that changes.
final class FileWatch: Sendable {
    private let input: Input
    private let version: Mutex<FileVersion?>
    private let source: any DispatchSourceProtocol
    private let onChange: @Sendable () -> Void

    /// - Parameters:
    ///   - version: The version of the file that was read; if it is another one by now, that is reported too.
    ///   - onChange: Called on a queue of its own.
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
            // A link may lead elsewhere now.
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

    /// Asks for notices of files that are written completely; asking twice has no further effect.
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

    /// Reads the waiting events; which ones does not matter.
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

/// What differs when a file was written or replaced.
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
    /// The file itself, also if a link leads to it.
    fileprivate var file: URL { URL(filePath: name).resolvingSymlinksInPath() }
}
