import CoreDataSource
import Synchronization

final class StatementCounter: Sendable {
    struct Counts: Sendable {
        var reads = 0
        var writes = 0
        var rows = 0
    }

    private let entityName: String
    private let counts = Mutex(Counts())

    init(of entityName: String) {
        self.entityName = entityName
    }

    func count(_ statement: StatementTrace) {
        guard statement.sql.contains(entityName) else { return }
        counts.withLock {
            if statement.isWriting { $0.writes += 1 } else { $0.reads += 1 }
            $0.rows += statement.rowCount
        }
    }

    /// Returns the counts since the last call.
    func take() -> Counts {
        counts.withLock { counts in
            let taken = counts
            counts = Counts()
            return taken
        }
    }
}
