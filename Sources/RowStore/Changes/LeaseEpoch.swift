/// A lease at the moment when a save was made.
public struct LeaseEpoch: Sendable, Hashable {
    /// The entity's place in ``ModelLayout/entities``.
    public let entity: Int
    /// ``LeaseTable/Lease/epoch`` when the save was made.
    public let epoch: Int64

    /// Makes an epoch.
    public init(entity: Int, epoch: Int64) {
        self.entity = entity
        self.epoch = epoch
    }
}
