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
    /// Writes pending saves to the store when the process ends.
    ///
    /// ```swift
    /// container.flushOnTermination()
    /// ```
    ///
    /// The flush runs on SIGTERM, SIGINT and SIGHUP, when the process calls `exit`, and when the process returns from its main
    /// function. After the flush, a signal has its usual effect. A signal that the process ignores, such as SIGHUP under
    /// `nohup`, stays ignored.
    ///
    /// You can call `exit` anywhere, even in a hook, in `perform { }`, in `read { }`, and in a handler of failures.
    /// Edits that are not saved yet are lost. The process waits for its stores for at most 30 seconds. Then the process
    /// ends, even if a store does not answer or is waiting for the caller of `exit`.
    ///
    /// By default, the library handles no signals. So in a server or a command-line tool, call this function once, soon after
    /// the start. Apps on Apple platforms do not need the call: their containers flush when the app goes to the background, and
    /// before the app is terminated.
    public func flushOnTermination() {
        TerminationSignals.shared.add(self)
    }
}

/// Calls a closure when the app goes to the background or ends, as reported by the platform.
package final class AppStateObserver: Sendable {
    private let tokens: Guarded<[any NSObjectProtocol]>

    /// - Parameter notices: The names of the notifications to observe; nil for the default notifications of the platform.
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
        let signals = [SIGTERM, SIGINT, SIGHUP].filter(TerminationSignals.ignoreByDefault)
        sources = signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        for (source, signal) in zip(sources, signals) {
            source.setEventHandler { self.end(by: signal) }
            source.activate()
        }
        atexit { TerminationSignals.shared.flush() }
    }

    /// Prevents a signal from ending the process at once, on Apple platforms. On Linux, does nothing.
    ///
    /// - Returns: Whether to handle the signal. On Apple platforms, false for a signal that the process ignores.
    private static func ignoreByDefault(_ signal: Int32) -> Bool {
        #if canImport(Darwin)
        // Kqueue also reports signals that the process ignored before, so do not handle them. On Linux, signalfd does not
        // report ignored signals.
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

    /// Writes the pending saves of all stores in parallel, and blocks until all saves are written or the time limit is reached.
    private func flush() {
        let pending = DispatchGroup()
        for container in entries.withLock({ $0.compactMap(\.container) }) {
            pending.enter()
            // No caller is left to receive an error: if the disk refuses a save now, the save is lost.
            container.stack.root.flush { _ in pending.leave() }
        }
        _ = pending.wait(timeout: .now() + TerminationSignals.seconds)
    }

    /// How long the process waits for its stores, in seconds. A limit is necessary, because the app can call `exit` on
    /// a queue that a store needs.
    private static let seconds = 30.0

    private func end(by signal: Int32) {
        flush()
        // The threads of queues block signals. This thread must unblock the signal that ends the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        Foundation.signal(signal, SIG_DFL)
        raise(signal)
    }
}
