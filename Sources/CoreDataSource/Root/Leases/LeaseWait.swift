internal import Dispatch
internal import RowStore

/// A batch that waits for leases.
final class LeaseWait: Sendable {
    let entities: [Int]
    /// The name of the data source that waits.
    let source: String
    /// Its ticket; nil if the leases were given at once.
    let ticket: Int64?
    /// Signalled when it is decided.
    let arrived = DispatchSemaphore(value: 0)
    private let taken = Guarded<LeaseUse?>(nil)

    init(_ entities: [Int], for source: String, ticket: Int64?) {
        self.entities = entities
        self.source = source
        self.ticket = ticket
    }

    /// The leases that it got; nil if it has to ask again.
    var use: LeaseUse? { taken.withLock { $0 } }

    func end(_ use: LeaseUse?) {
        taken.withLock { $0 = use }
        arrived.signal()
    }
}
