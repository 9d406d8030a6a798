@preconcurrency internal import Dispatch
package import Foundation
internal import RowStore

#if canImport(UIKit) && !os(watchOS)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif

/// Writing pending saves before the process ends.
///
/// A save can be pending only if its call used `waitFor: .main`, or if the disk refused the save.
extension PersistentContainer {
    /// Flushes when the process ends.
    ///
    /// ```swift
    /// container.flushOnTermination()
    /// ```
    ///
    /// The flush runs on SIGTERM, SIGINT and SIGHUP, which then have their usual effect; when the process calls `exit`; and
    /// when it returns from its main function. A signal that the process ignores, such as SIGHUP under `nohup`, stays ignored.
    ///
    /// `exit` may be called anywhere, also in a hook, in `perform { }`, in `read { }`, and in a handler of failures. Edits that
    /// are not saved yet are not written. The process waits at most 30 seconds for its stores. Then it ends, even if a store
    /// does not answer or waits for the caller of `exit`.
    ///
    /// The library handles no signals by default, so call this once, early, in a server or a command-line tool. Apps on Apple
    /// platforms need no call: their containers flush when the app goes to the background, and before it is terminated.
    public func flushOnTermination() {
        TerminationSignals.shared.add(self)
    }
}

/// Calls a closure when the platform notifies the app that it goes to the background or ends.
package final class AppStateObserver: Sendable {
    private let tokens: Guarded<[any NSObjectProtocol]>

    /// - Parameter notices: The names to observe; nil for those of the platform.
    package init(_ notices: [Notification.Name]? = nil, _ body: @escaping @Sendable () -> Void) {
        tokens = Guarded(
            (notices ?? AppStateObserver.notices).map { name in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in body() }
            })
    }

    deinit {
        for token in tokens.withLock({ $0 }) { NotificationCenter.default.removeObserver(token) }
    }

    private static var notices: [Notification.Name] {
        #if canImport(UIKit) && !os(watchOS)
        [UIApplication.didEnterBackgroundNotification, UIApplication.willTerminateNotification]
        #elseif canImport(AppKit)
        [NSApplication.willResignActiveNotification, NSApplication.willTerminateNotification]
        #else
        []
        #endif
    }
}

/// The containers to flush at a signal.
private final class TerminationSignals: Sendable {
    static let shared = TerminationSignals()

    private struct Entry {
        weak var container: PersistentContainer?
    }

    private let entries = Guarded<[Entry]>([])
    private let sources: [any DispatchSourceSignal]

    private init() {
        let queue = DispatchQueue(label: "CoreDataSource.termination", qos: .userInitiated)
        let signals = [SIGTERM, SIGINT, SIGHUP].filter(TerminationSignals.take)
        sources = signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        for (source, signal) in zip(sources, signals) {
            source.setEventHandler { self.end(by: signal) }
            source.activate()
        }
        atexit { TerminationSignals.shared.flush() }
    }

    /// Keeps a signal from ending the process at once.
    ///
    /// - Returns: Whether the process does not ignore it.
    private static func take(_ signal: Int32) -> Bool {
        #if canImport(Darwin)
        // Kqueue reports ignored signals too; signalfd on Linux does not.
        return unsafeBitCast(Foundation.signal(signal, SIG_IGN), to: Int.self) != 1
        #else
        return true
        #endif
    }

    func add(_ container: PersistentContainer) {
        entries.withLock { entries in
            entries.removeAll { $0.container == nil }
            entries.append(Entry(container: container))
        }
    }

    /// Writes the pending saves of all stores at once, and blocks until all are written or the time is over.
    private func flush() {
        let pending = DispatchGroup()
        for container in entries.withLock({ $0.compactMap(\.container) }) {
            pending.enter()
            // No caller is left to report to: a save that the disk refuses now is lost with the process.
            container.stack.root.flush { _ in pending.leave() }
        }
        _ = pending.wait(timeout: .now() + TerminationSignals.seconds)
    }

    /// How long the process waits for its stores. The limit is needed, because `exit` may be called on a queue that a store
    /// needs.
    private static let seconds = 30.0

    private func end(by signal: Int32) {
        flush()
        // A queue's thread blocks signals, but this thread must not block the signal that ends the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        Foundation.signal(signal, SIG_DFL)
        raise(signal)
    }
}
