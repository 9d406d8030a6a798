import CoreDataSource
import Dispatch
import Testing

/// Large values are released neither on main nor by any other who lets go of them last.
struct ReleasedElsewhereTests {
    private final class Large: Sendable {}

    /// However late the one who made the box lets go of it.
    @Test func theBoxIsEmptyOnceTheQueueWasThere() {
        weak var large: Large?
        let box = {
            let new = Large()
            large = new
            return ReleasedElsewhere(new)
        }()
        box.use { #expect($0 === large) }
        #expect(large != nil)
        box.release()
        releaseQueue.sync {}
        #expect(large == nil)
        box.use { _ in Issue.record("a value that was released is used") }
    }
}
