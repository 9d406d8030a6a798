internal import RowStore

/// One queue for reads.
actor ReadTier {
    private nonisolated let stack: PersistentStack
    private nonisolated let executor: QueueExecutor

    init(_ stack: PersistentStack, number: Int) {
        self.stack = stack
        executor = QueueExecutor(stack.root.scheduling.makeQueue("CoreDataSource.read.\(number)", true))
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func read<Result: Sendable>(
        _ body: @Sendable (ReadContext) throws -> Result
    ) -> Swift.Result<Result, any Error> {
        Swift.Result { try readSnapshot(body) }
    }

    private func readSnapshot<Result: Sendable>(
        _ body: @Sendable (ReadContext) throws -> Result
    ) throws -> Result {
        let outcome = try stack.root.withSnapshot { snapshot throws(DataSourceError) in
            Swift.Result {
                let context = ReadContext(stack, .snapshot(snapshot))
                let result = try body(context)
                // A relationship that could not be read was nil in the body.
                if let refusal = context.refusal {
                    throw refusal.code == .cancelled ? CancellationError() : refusal
                }
                return result
            }
        }
        return try outcome.get()
    }
}
