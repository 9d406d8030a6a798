internal import Dispatch
internal import Foundation

/// Tells whether code runs where the main actor does.
package enum MainQueue {
    private static let key = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether the calling code runs on the main queue or on the main thread.
    ///
    /// These are two conditions: once a program on Linux has handed its main thread to the dispatcher, any thread may serve the
    /// main queue.
    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil || Thread.isMainThread }
}
