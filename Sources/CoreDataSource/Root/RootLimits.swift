/// How much may wait in a container.
package struct RootLimits: Sendable {
    /// How many bytes of saves may wait for the store before callers are held.
    package var pendingBytes: Int
    /// How many values may wait for their batch before callers are held.
    package var queuedValues: Int
    /// How many bytes of saves may wait for main before it must reload what it shows from the store.
    package var unmergedBytes: Int
    /// How long a call is held before it is refused.
    package var patience: Duration
    /// How long a call waits for rows that another program keeps locked.
    package var lockPatience: Duration
    /// How long main waits for a server.
    package var mainPatience: Duration

    package init(
        pendingBytes: Int = 64 << 20, queuedValues: Int = 1_000_000, unmergedBytes: Int = 32 << 20,
        patience: Duration = .seconds(10), lockPatience: Duration = .seconds(10),
        mainPatience: Duration = .seconds(10)
    ) {
        self.pendingBytes = pendingBytes
        self.queuedValues = queuedValues
        self.unmergedBytes = unmergedBytes
        self.patience = patience
        self.lockPatience = lockPatience
        self.mainPatience = mainPatience
    }
}
