#if PostgreSQL
internal import CoreDataSource
internal import RawSQLite

/// Owns the threads.
private final class ThreadSource: DataSource<Int64> {
    nonisolated override class var entities: [ManagedObject.Type] { [MailThread.self] }

    nonisolated override func onAdd(_ number: Int64, in context: PrivateContext) throws -> ManagedObject? {
        let thread = try context.insert(MailThread.self)
        thread.number = number
        thread.title = "Thread \(number)"
        return thread
    }
}

/// A message, with the number of its thread.
private struct LinkedMessage: Sendable {
    var uid: String
    var thread: Int64
}

/// Owns the messages, and looks up the thread of each.
private final class MessageSource: DataSource<LinkedMessage> {
    nonisolated override class var entities: [ManagedObject.Type] { [MailMessage.self] }

    nonisolated override func prepare(_ values: [LinkedMessage], in context: PrivateContext) throws {
        try context.preload(MailMessage.self, where: \.uid, in: values.map(\.uid))
        try context.preload(MailThread.self, where: \.number, in: values.map(\.thread))
    }

    nonisolated override func onAdd(_ value: LinkedMessage, in context: PrivateContext) throws -> ManagedObject? {
        let message = try context.findOrInsert(MailMessage.self, where: \.uid, equals: value.uid)
        message.subject = "About \(value.uid)"
        message.thread = try context.first(MailThread.self, where: \.number, equals: value.thread)
        return message
    }
}

extension Bench {
    /// W24-import: messages are added to six threads of another data source, each of which the hook looks up; in place of raw: the
    /// same in an SQLite file.
    func importingLinkedOnServer() async throws -> Outcome {
        let values = (0..<options.n / 20).map { LinkedMessage(uid: "message-\($0)", thread: Int64($0 % 6)) }
        func importing(_ location: StoreLocation) async throws -> Sample {
            let container = try await PersistentContainer(
                model: .threads, store: location, configuration: .init(synchronous: .full))
            let threads = try await container.dataSource(ThreadSource.self)
            let messages = try await container.dataSource(MessageSource.self)
            try await threads.add(Array(0..<6))
            let start = raw_now()
            try await messages.add(values)
            let sample = Sample(nanoseconds: raw_now() - start)
            let linked = try await container.read { try $0.count(MailMessage.self, where: \.thread != nil) }
            try expect(linked == values.count, "\(linked) of \(values.count) messages have a thread")
            try await container.close()
            return sample
        }
        let url = newFile()
        let results = try await interleaved {
            try await importing(.postgreSQL(Database().connection, name: "mail"))
        } raw: {
            defer { remove(url) }
            return try await importing(.sqlite(url))
        }
        return Outcome("W24-import", n: values.count, aim: "2.0", ours: results.ours, raw: results.raw)
    }
}
#endif
