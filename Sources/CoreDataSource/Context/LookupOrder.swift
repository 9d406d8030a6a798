/// Guesses which object is looked up next: a list from a server mostly comes in the order in which its objects were inserted.
///
/// An object that is guessed is near the previous one in memory; the index of the values leads to a random place. Objects that are
/// found in any other order are not guessed.
package struct LookupOrder {
    private var lastKey: Int64 = 0
    /// From the object before the last one to that one.
    private var step: Int64 = 0
    /// Whether the last object was where the ones before it led.
    private var isRegular = false

    package init() {}

    /// The key of the next object, if the last ones came in order.
    package var nextKey: Int64? { isRegular ? lastKey &+ step : nil }

    /// Notes which object was found.
    package mutating func note(_ key: Int64) {
        let step = key &- lastKey
        isRegular = step == self.step
        (lastKey, self.step) = (key, step)
    }
}
