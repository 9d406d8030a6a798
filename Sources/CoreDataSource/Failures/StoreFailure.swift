public import RowStore

/// A failure that no call can throw.
///
/// ```swift
/// for await failure in container.failures { logger.error("\(failure)") }
/// ```
public struct StoreFailure: Sendable {
    /// The kind of a failure. New kinds may be added in any release: keep a default branch.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        /// A save with `waitFor: .main` could not be written yet. Main shows it, and it will be tried again.
        public static let saveDelayed = Kind(rawValue: "saveDelayed")
        /// A save with `waitFor: .main` can never be written. It was taken back from all contexts.
        public static let saveRefused = Kind(rawValue: "saveRefused")
        /// A write by `writeAsync` without a callback failed. Nothing of it was saved.
        public static let writeFailed = Kind(rawValue: "writeFailed")
        /// Something is wrong in the store itself, such as a checkpoint that keeps failing or a value that cannot be read.
        public static let store = Kind(rawValue: "store")
        /// A batch runs for long while another process waits for the lease of its data source. It is reported once per batch.
        public static let batchHoldsLease = Kind(rawValue: "batchHoldsLease")
    }

    /// The kind of the failure.
    public let kind: Kind
    /// What happened, and what to do.
    public let error: DataSourceError
    /// The class name of the data source that made the save or runs the batch; nil if there is none.
    public let dataSourceName: String?

    init(_ kind: Kind, _ error: DataSourceError, dataSourceName: String?) {
        self.kind = kind
        self.error = error
        self.dataSourceName = dataSourceName
    }

    init(_ batch: LongBatch) {
        let seconds = (ContinuousClock.now - batch.begin) / .seconds(1)
        let error = DataSourceError(
            .batchHoldsLease,
            "A batch of \(batch.source) has run for \((seconds * 10).rounded() / 10) s, and another process waits for its lease. Keep "
                + "batches short in shared stores: a call that waits too long throws ownedElsewhere.")
        self.init(.batchHoldsLease, error, dataSourceName: batch.source)
    }

    /// A failure, with the data source that made the save.
    struct Report: Sendable {
        let failure: StoreFailure
        let source: SaveSource

        init(_ kind: Kind, _ error: DataSourceError, _ source: SaveSource) {
            failure = StoreFailure(kind, error, dataSourceName: source.name)
            self.source = source
        }
    }
}

extension StoreFailure: CustomStringConvertible {
    public var description: String {
        let subject = [kind.description, dataSourceName].compactMap { $0 }.joined(separator: " of ")
        return subject + (kind == .saveDelayed ? ", which is tried again: " : ": ") + "\(error)"
    }
}
