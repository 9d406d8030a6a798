package import RowStore

/// Counts the rows that have been carried over.
package final class MigrationMeter {
    private var progress: MigrationProgress
    private let report: ((MigrationProgress) -> Void)?

    package init(totalRowCount: Int, report: ((MigrationProgress) -> Void)?) {
        progress = MigrationProgress(completedRowCount: 0, totalRowCount: totalRowCount)
        self.report = report
    }

    package func begin(_ entityName: String) {
        progress.entityName = entityName
        report?(progress)
    }

    package func advance(_ rows: Int) {
        guard rows > 0 else { return }
        progress.completedRowCount += rows
        report?(progress)
    }

    package func end() {
        progress.entityName = nil
        report?(progress)
    }
}
