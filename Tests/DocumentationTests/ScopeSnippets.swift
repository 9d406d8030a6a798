import CoreDataSource
import Foundation
import FrameworkNames
import Testing

/// A server with contacts, as the snippets use it.
private struct ContactServer: Sendable {
    struct Page {
        var contacts: [Contact]
        var next: String?
    }

    let contacts = [Contact(uid: "1", name: "Liu Bei"), Contact(uid: "2", name: "Guan Yu")]

    func list(unless tag: String?) async throws -> ([Contact]?, String) {
        tag == "\"2\"" ? (nil, "\"2\"") : (contacts, "\"2\"")
    }

    func answer(unless tag: String?) async throws -> ServerAnswer<Contact> {
        let (list, new) = try await list(unless: tag)
        return list.map { .list($0, entityTag: new) } ?? .notModified
    }

    func page(after cursor: String?) async throws -> Page {
        cursor == nil ? Page(contacts: [contacts[0]], next: "1") : Page(contacts: [contacts[1]], next: nil)
    }
}

private struct ServerIsBusy: RetryAfterError {
    let retryAfter: Duration?

    init(_ headers: [String: String]) {
        retryAfter = headers["Retry-After"].flatMap { Int($0) }
            .map { .seconds($0) }
    }
}

@MainActor
private final class FreshnessView: DataSourceDelegate {
    func didChangeContent(dataKey: String) {}

    func didChangeFreshness(_ freshness: ScopeFreshness, dataKey: String) {
        print("Updated", freshness.requestedAt as Any)
    }
}

/// The snippets about the lists of a server.
@MainActor
struct ScopeSnippets {
    private let server = ContactServer()

    @Test func aListIsLoadedWhenItIsOld() async throws {
        try await withContacts { _, contacts in
            let all = SyncScope("contacts", ContactEntity.self)
            let adults = SyncScope(
                "adults", ContactEntity.self, where: \.age >= 18)
            try await contacts.load(all, maxAge: .seconds(300)) { [server] request in
                let (list, tag) = try await server.list(unless: request.entityTag)
                guard let list else { return .notModified }
                return .list(list, entityTag: tag)
            }
            let server = server
            try await contacts.load(all, maxAge: .seconds(300)) { request in
                let (list, tag) = try await server.list(unless: request.entityTag)
                guard let list else { return .notModified }
                return .list(list, entityTag: tag)
            }
            try await contacts.load(adults, maxAge: .seconds(300)) { request in
                let page = try await server.page(after: request.cursor)
                return .page(page.contacts, next: page.next)
            }
            #expect(try contacts.freshness(of: adults).isComplete)
            #expect(try contacts.count(ContactEntity.self, where: .isIn(\.uid, ["1", "2"])) == 2)
        }
    }

    @Test func staleObjectsAreShown() async throws {
        try await withContacts { _, contacts in
            let (server, all) = (server, SyncScope("contacts", ContactEntity.self))
            let freshness = try await contacts.load(
                all, maxAge: .seconds(300), whenStale: .serveStale
            ) { request in
                try await server.answer(unless: request.entityTag)
            }
            #expect(freshness.entityTag == "\"2\"")
        }
    }

    @Test func anAppSetsThePausesAfterFailures() {
        var configuration = PersistentContainer.Configuration()
        configuration.loadPauses = LoadPauses(
            first: .seconds(10), longest: .seconds(3600))
        #expect(configuration.loadPauses.first == .seconds(10))
        let pauses = LoadPauses(random: { 1 })
        #expect(pauses.first == .seconds(2) && pauses.random() == 1)
    }

    @Test func aViewSaysHowOldItsObjectsAre() async throws {
        try await withContacts { _, contacts in
            let all = SyncScope("contacts", ContactEntity.self)
            let freshness = try contacts.freshness(of: all)
            if freshness.isStale(after: .seconds(300)) {
                print("Last updated", freshness.requestedAt as Any)
                print("Last failure", freshness.lastFailure as Any)
            }
            let isOld = freshness.isStale(after: .seconds(300))
            #expect(isOld)
            let contact = SyncScope(where: \ContactEntity.uid, equals: "7")
            let age = try contacts.freshness(of: contact)
            #expect(age.requestedAt == nil)
        }
    }

    @Test func aListShowsTheFreshness() async throws {
        try await withContacts { _, contacts in
            let all = SyncScope("contacts", ContactEntity.self)
            let list = try contacts.list(
                ObjectRequest(
                    ContactEntity.self, order: [.ascending(\.name)], freshnessOf: all))
            if let freshness = list.freshness, let date = freshness.requestedAt {
                print("Updated", date)
                if freshness.failureCount > 0 { print("The last refresh has failed") }
            }
            if list.freshness?.isLoading == true { print("Refreshing") }
            if let freshness = list.freshness {
                if freshness.isLoading { print("Refreshing") }
                if let date = freshness.retryAt, date > Date() {
                    print("No load before", date)
                }
            }
            #expect(list.freshness?.isComplete == false)
            var request = ObjectRequest(ContactEntity.self)
            request.freshnessOf = all
            let view = FreshnessView()
            try contacts.register(view, dataKey: "list", request)
            let server = server
            try await contacts.load(all, maxAge: .seconds(300)) { try await server.answer(unless: $0.entityTag) }
            let date = contacts.freshness(dataKey: "list")?.requestedAt
            #expect(date != nil && list.freshness?.requestedAt == date)
        }
    }

    @Test func oldObjectsAreEvicted() async throws {
        try await withContacts { _, contacts in
            let eviction = ScopeEviction(
                maxAge: .seconds(30 * 86_400), maxCount: 500, by: \ContactEntity.birthday,
                keeping: \.isFavorite == true)
            let recent = SyncScope("recent", ContactEntity.self, evicting: eviction)
            let report = try await contacts.apply(.list(server.contacts), to: recent, requestedAt: Date())
            #expect(report.evicted == 0)
        }
        do {
            let eviction = ScopeEviction(maxCount: 500, by: \ContactEntity.birthday)
            #expect(eviction.maxCount == 500)
        }
        do {
            let eviction = ScopeEviction(maxAge: .seconds(86_400), by: \MessageEntity.date)
            #expect(eviction.maxAge == .seconds(86_400))
        }
        do {
            let eviction = ScopeEviction<ContactEntity>(
                maxCount: 500, order: [.descending(\.age)])
            #expect(eviction.kept == nil)
        }
    }

    @Test func answersAreStoredWithoutALoad() async throws {
        try await withContacts { _, contacts in
            let all = SyncScope("contacts", ContactEntity.self)
            let (freshness, start) = (try contacts.freshness(of: all), Date())
            let answer = try await server.answer(unless: freshness.entityTag)
            try await contacts.apply(
                answer, to: all, requestedAt: start, since: freshness)
            #expect(try contacts.freshness(of: all).requestedAt == start)
        }
    }

    @Test func codeThatShowsAFreshnessIsTested() async throws {
        let request = ScopeRequest(entityTag: "1")
        #expect(request.page == 0)
        let old = ScopeFreshness(
            requestedAt: Date() - 300, failureCount: 1, lastFailure: "URLError -1009")
        #expect(old.isStale(after: .seconds(60)))
        var configuration = PersistentContainer.Configuration()
        configuration.now = { Date(timeIntervalSince1970: 1_000) }
        #expect(configuration.now?() == Date(timeIntervalSince1970: 1_000))
        try await withContacts { _, contacts in
            let all = SyncScope("contacts", ContactEntity.self)
            try await contacts.forget(all)
            #expect(try contacts.freshness(of: all).requestedAt == nil)
        }
    }

    @Test func aServerSaysWhenToTryAgain() {
        #expect(ServerIsBusy(["Retry-After": "120"]).retryAfter == .seconds(120))
        #expect(ServerIsBusy(["Retry-After": "soon"]).retryAfter == nil)
    }

    @Test func anAnswerHasAnEntityTag() {
        let contacts = server.contacts
        let answer = ServerAnswer.list(contacts, entityTag: "\"33a64df5\"")
        guard case .list(let list, let tag, nil) = answer else {
            Issue.record("no list")
            return
        }
        #expect(list.count == 2 && tag == "\"33a64df5\"")
    }
}
