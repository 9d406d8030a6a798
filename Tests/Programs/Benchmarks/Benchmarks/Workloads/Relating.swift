internal import CoreDataSource
internal import Foundation
internal import RawSQLite

/// Threads and their messages.
final class MailSource: DataSource<Int> {
    nonisolated override class var entities: [ManagedObject.Type] { [MailMessage.self, MailThread.self] }
}

extension Bench {
    private var threadCount: Int { options.n / 100 }

    /// W18: all messages fetched on main with their threads, and read: a number of each message and the title of its thread;
    /// raw: a struct for each, with a pointer to its thread.
    func fetchingRelated() async throws -> Outcome {
        let url = try await newMail()
        let reader = raw_open_reader(url.path)
        defer { raw_close(reader) }
        var (sum, rawSum): (Int64, Int64) = (0, 0)
        let results = try await compare {
            let ours = try await openMail(url)
            let sample = try await fetch(ours, &sum)
            try await ours.container.close()
            return sample
        } raw: {
            var mail: OpaquePointer?
            let sample = measureRaw {
                mail = raw_mail_fetch(reader)
                rawSum = raw_mail_sum(mail)
            }
            raw_mail_free(mail)
            return sample
        }
        try expect(sum == rawSum && sum > 0, "the sum is \(sum), and in raw \(rawSum)")
        remove(url)
        return Outcome("W18", n: options.n, aim: "1.5", ours: results.ours, raw: results.raw)
    }

    @MainActor
    private func fetch(_ ours: OpenStore<MailSource>, _ sum: inout Int64) throws -> Sample {
        // Opens the connection that reads.
        _ = try ours.source.main.first(MailThread.self, where: \.number, equals: -1)
        var messages: [MailMessage] = []
        var total: Int64 = 0
        let sample = try ours.measureOnMain {
            var request = ObjectRequest<MailMessage>()
            request.prefetch = [\.thread]
            messages = try ours.source.main.fetch(request)
            for message in messages { total += Int64(message.size) + Int64(message.thread?.title.utf8.count ?? 0) }
        }
        try expect(sample.statements <= 2, "\(sample.statements) statements ran")
        sum = total
        return sample
    }

    /// W19: the title of each thread, how many messages it has, and the date of the newest, on main; raw: the same, by two
    /// statements for each thread.
    func countingRelated() async throws -> Outcome {
        let url = try await newMail()
        let reader = raw_open_reader(url.path)
        defer { raw_close(reader) }
        var (sum, rawSum): (Int64, Int64) = (0, 0)
        let results = try await compare {
            let ours = try await openMail(url)
            let sample = try await count(ours, &sum)
            try await ours.container.close()
            return sample
        } raw: {
            measureRaw { rawSum = raw_mail_newest(reader) }
        }
        try expect(sum == rawSum && sum > 0, "the sum is \(sum), and in raw \(rawSum)")
        remove(url)
        return Outcome("W19", n: threadCount, aim: "1.3", ours: results.ours, raw: results.raw)
    }

    @MainActor
    private func count(_ ours: OpenStore<MailSource>, _ sum: inout Int64) throws -> Sample {
        _ = try ours.source.main.first(MailThread.self, where: \.number, equals: -1)
        var total: Int64 = 0
        let sample = try ours.measureOnMain {
            let threads = try ours.source.main.values(
                ObjectRequest<MailThread>(), \.title, \.messages.count, \.messages[max: \.date])
            for (_, count, newest) in threads { total += Int64(count) + Int64(newest ?? 0) }
        }
        try expect(sample.statements <= 2, "\(sample.statements) statements ran")
        sum = total
        return sample
    }

    /// W20: all threads deleted, and their messages with them; raw: two statements for each thread, in one transaction.
    func deletingRelated() async throws -> Outcome {
        let full = try await newMail()
        let (threads, statement) = (
            threadCount, "SELECT (SELECT count(*) FROM MailThread) + (SELECT count(*) FROM MailMessage)"
        )
        func verify(_ url: URL) throws {
            let reader = raw_open_reader(url.path)
            defer { raw_close(reader) }
            try expect(raw_value(reader, statement) == 0, "rows are left")
        }
        func copy() throws -> URL {
            let url = newFile()
            try FileManager.default.copyItem(at: full, to: url)
            return url
        }
        let results = try await compare {
            let url = try copy()
            let ours = try await openMail(url)
            let sample = try await ours.measure { try await ours.source.delete(MailThread.self, where: nil) }
            try verify(url)
            try await ours.container.close()
            remove(url)
            return sample
        } raw: {
            let url = try copy()
            let store = raw_open(url.path, 1)
            let sample = measureRaw { raw_mail_delete(store, threads) }
            try verify(url)
            raw_close(store)
            remove(url)
            return sample
        }
        remove(full)
        return Outcome("W20", n: options.n, aim: "1.4", ours: results.ours, raw: results.raw)
    }

    // MARK: Stores

    private func newMail() async throws -> URL { try await newMail(threads: threadCount, messages: options.n) }

    /// A store of the library's in which threads and messages were written by raw statements, closed.
    func newMail(threads: Int, messages: Int) async throws -> URL {
        let url = newFile()
        try await openMail(url).container.close()
        let store = raw_open(url.path, 1)
        raw_mail_insert(store, threads, messages)
        raw_close(store)
        return url
    }

    func openMail(_ url: URL) async throws -> OpenStore<MailSource> {
        try await OpenStore<MailSource>(url, .full, model: .threads)
    }
}
