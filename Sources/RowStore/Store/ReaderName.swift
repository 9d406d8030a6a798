package import Dispatch

/// The name under which a queue reads a store. A reader that holds up the write-ahead log is reported by this name.
package enum ReaderName {
    /// Set it on a queue whose work reads.
    package static let key = DispatchSpecificKey<String>()

    /// The name that the current queue has, if any.
    package static var current: String? { DispatchQueue.getSpecific(key: key) }
}
