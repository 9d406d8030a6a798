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
    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil || isMainThread }

    /// Where each thread remembers whether it is the main thread, because on Linux to ask means two system calls: 1 if it is, 2 if
    /// it is not.
    private static let answer = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static var isMainThread: Bool {
        let known = UInt(bitPattern: pthread_getspecific(answer))
        if known != 0 { return known == 1 }
        let isMain = Thread.isMainThread
        pthread_setspecific(answer, UnsafeRawPointer(bitPattern: isMain ? 1 : 2))
        return isMain
    }
}
