internal import RowStore

/// Decides when to check for writes of other programs. The checks run every half second. After a few checks without a change, the store is
/// watched instead, and the first possible write starts the checks again.
///
/// The container's own saves also start the checks again. The checks themselves do not, because they write nothing.
struct OutsideChecks {
    /// The newest changes that are known after a check. If two checks end at the same place, nothing has changed between them.
    struct Place: Equatable {
        let generation: Int
        let save: SaveNumber
        let event: EventNumber
    }

    /// The time between two checks.
    static let interval = Duration.milliseconds(500)
    /// The number of checks in a row without a change before the store is watched. If the store cannot be watched now, the same number of
    /// checks follows before the next attempt.
    static let quietLimit = 4

    /// Whether a check is scheduled, or the store is watched.
    private(set) var isOn = false
    private var quietCount = 0
    private var place: Place?
    /// The number of the newest attempt to watch the store.
    private var attempt = 0
    /// Whether the watch of the newest attempt has noticed a write.
    private var hasNoticed = false
    private var watch: StoreWatch?

    /// - Returns: Whether the caller must schedule the first check.
    mutating func start() -> Bool {
        defer { isOn = true }
        return !isOn
    }

    /// Ends the checks.
    ///
    /// - Returns: The watch to end.
    mutating func stop() -> StoreWatch? {
        isOn = false
        defer { watch = nil }
        return watch
    }

    /// Records a check.
    ///
    /// - Returns: The number of the next attempt, if the caller must now try to watch the store. Nil if the next check must be
    ///   scheduled.
    mutating func didCheck(at place: Place) -> Int? {
        quietCount = place == self.place ? quietCount + 1 : 0
        self.place = place
        guard quietCount >= OutsideChecks.quietLimit else { return nil }
        quietCount = 0
        attempt += 1
        hasNoticed = false
        return attempt
    }

    /// Keeps the watch of an attempt.
    ///
    /// - Returns: Whether the watch replaces the checks. False if the watch has already noticed a write, or the checks have ended.
    mutating func keep(_ watch: StoreWatch, of attempt: Int) -> Bool {
        guard isOn, attempt == self.attempt, !hasNoticed else { return false }
        self.watch = watch
        return true
    }

    /// Records that the watch of an attempt has noticed a write.
    ///
    /// - Returns: The watch to end. The caller must then schedule the next check. Nil if a check is scheduled already.
    mutating func didNotice(_ attempt: Int) -> StoreWatch? {
        guard attempt == self.attempt else { return nil }
        hasNoticed = true
        defer { watch = nil }
        return watch
    }
}
