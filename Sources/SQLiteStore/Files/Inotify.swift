#if os(Linux)
@preconcurrency internal import Dispatch
internal import Foundation
internal import RowStore

/// The system's events of files, for all stores of the process.
///
/// All watches share one instance of inotify, because the system limits the number of instances that all programs of a user
/// have together. The instance ends with the last watch.
final class Inotify: Sendable {
    static let shared = Inotify()

    /// A file or a folder of a watch.
    struct Target {
        let path: String
        let events: Int32
        /// For a folder, the names of its files that concern the watch; empty for a file.
        var names: Set<String> = []
        /// Whether the watch can begin before the file is made.
        var canBeMissing = false
    }

    fileprivate struct Instance {
        let descriptor: Int32
        let source: any DispatchSourceRead
    }

    fileprivate struct Watch {
        let handler: @Sendable () -> Void
        var descriptors: Set<Int32> = []
    }

    fileprivate struct State {
        var instance: Instance?
        var lastNumber = 0
        /// The watches by their numbers.
        var watches: [Int: Watch] = [:]
        /// For each watch descriptor, the numbers of its watches, and the names that concern each watch. A watch descriptor stands
        /// for a file or a folder, so all watches of the same file have the same watch descriptor.
        var targets: [Int32: [Int: Set<String>]] = [:]
    }

    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "CoreDataSource.watch", qos: .utility)

    private init() {}

    /// Watches files.
    ///
    /// - Parameter handler: Called on a queue at each event, until the watch ends.
    /// - Returns: Nil if the system allows no more watches.
    func watch(_ targets: [Target], _ handler: @escaping @Sendable () -> Void) -> StoreWatch? {
        let begun = state.withLock { state -> (number: Int, isComplete: Bool)? in
            guard let descriptor = instance(&state) else { return nil }
            state.lastNumber += 1
            let number = state.lastNumber
            state.watches[number] = Watch(handler: handler)
            return (number, targets.allSatisfy { state.add($0, to: number, descriptor) })
        }
        guard let begun else { return nil }
        // If the watch is incomplete, it is released here, and so ends.
        let watch = StoreWatch { [self] in end(begun.number) }
        return begun.isComplete ? watch : nil
    }

    /// Returns the descriptor of the instance. Makes the instance if there is none.
    private func instance(_ state: inout State) -> Int32? {
        if let instance = state.instance { return instance.descriptor }
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [self] in takeEvents(descriptor) }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        state.instance = Instance(descriptor: descriptor, source: source)
        return descriptor
    }

    private func end(_ number: Int) {
        // Release the handler after the lock is unlocked, because the handler may release objects that end other watches.
        let ended = state.withLock { state -> Watch? in
            let ended = state.watches.removeValue(forKey: number)
            for descriptor in ended?.descriptors ?? [] { state.remove(number, from: descriptor) }
            if state.watches.isEmpty {
                // If the event handler is running, the source closes the descriptor after the handler has returned.
                state.instance?.source.cancel()
                (state.instance, state.targets) = (nil, [:])
            }
            return ended
        }
        withExtendedLifetime(ended) {}
    }

    /// Reads the waiting events, and calls the handlers of the watches that an event may concern.
    private func takeEvents(_ descriptor: Int32) {
        let handlers = state.withLock { state -> [@Sendable () -> Void] in
            var found: Set<Int> = []
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while true {
                    let count = read(descriptor, buffer.baseAddress, buffer.count)
                    guard count > 0 else { return }
                    // If the source was canceled, ignore its events. A newer instance may use the watch descriptors of these
                    // events for other files.
                    guard state.instance?.descriptor == descriptor else { continue }
                    state.collect(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &found)
                }
            }
            return found.compactMap { state.watches[$0]?.handler }
        }
        for handler in handlers { handler() }
    }
}

extension Inotify.State {
    /// - Returns: False if the system does not allow the watch.
    fileprivate mutating func add(_ target: Inotify.Target, to number: Int, _ instance: Int32) -> Bool {
        let descriptor = inotify_add_watch(instance, target.path, UInt32(bitPattern: target.events))
        guard descriptor >= 0 else { return target.canBeMissing && errno == ENOENT }
        targets[descriptor, default: [:]][number, default: []].formUnion(target.names)
        watches[number]?.descriptors.insert(descriptor)
        return true
    }

    fileprivate mutating func remove(_ number: Int, from descriptor: Int32) {
        targets[descriptor]?[number] = nil
        guard targets[descriptor]?.isEmpty == true, let instance else { return }
        targets[descriptor] = nil
        _ = inotify_rm_watch(instance.descriptor, descriptor)
    }

    /// Adds the numbers of the watches that events may concern.
    fileprivate mutating func collect(_ events: UnsafeRawBufferPointer, _ found: inout Set<Int>) {
        var start = 0
        while start + MemoryLayout<inotify_event>.size <= events.count {
            let event = events.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
            let nameStart = start + MemoryLayout<inotify_event>.size
            start = nameStart + Int(event.len)
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                // Events were lost, and they may have concerned any watch.
                found.formUnion(watches.keys)
                continue
            }
            // Only events of files in a folder have a name. All others are about a watched file or folder itself.
            let bytes = events[nameStart..<min(start, events.count)].prefix { $0 != 0 }
            let name = event.len == 0 ? nil : String(decoding: bytes, as: UTF8.self)
            for (number, names) in targets[event.wd] ?? [:] where name.map(names.contains) ?? true {
                found.insert(number)
            }
            // The file is gone. The system does not use the watch descriptor again.
            if event.mask & UInt32(IN_IGNORED) != 0 { forget(event.wd) }
        }
    }

    private mutating func forget(_ descriptor: Int32) {
        for number in (targets.removeValue(forKey: descriptor) ?? [:]).keys {
            watches[number]?.descriptors.remove(descriptor)
        }
    }
}
#endif
