internal import CoreDataSource

extension Bench {
    /// W34: new messages are linked to a thread in a batch that has read the messages of as many new threads before; instead of raw:
    /// the same without these reads. Only the links are measured.
    func linkingAfterReads() async throws -> Outcome {
        let count = options.n / 5
        let results = try await interleaved {
            try await linking(count, readsBefore: true)
        } raw: {
            try await linking(count, readsBefore: false)
        }
        return Outcome("W34", n: count, aim: "1.5", ours: results.ours, raw: results.raw)
    }

    private func linking(_ count: Int, readsBefore: Bool) async throws -> Sample {
        let container = try await PersistentContainer(model: .threads, store: .inMemory)
        let mail = try await container.dataSource(MailSource.self)
        let nanoseconds = try await mail.perform { context in
            let threads = try (0..<count).map { number in
                let thread = try context.insert(MailThread.self)
                thread.number = Int64(number)
                return thread
            }
            let messages = try (0..<count).map { number in
                let message = try context.insert(MailMessage.self)
                message.uid = "message-\(number)"
                return message
            }
            if readsBefore {
                for thread in threads { try expect(thread.messages.isEmpty, "a new thread has messages") }
            }
            let nanoseconds = time { for message in messages { message.thread = threads[0] } }
            try expect(threads[0].messages.count == count, "messages have no thread")
            return nanoseconds
        }
        try await container.close()
        return Sample(nanoseconds: nanoseconds)
    }
}
