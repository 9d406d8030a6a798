import CoreDataSource
import Testing

/// The examples of loops over pages.
@MainActor
struct PagesSnippets {
    /// A server that counts what it gets.
    private actor Server {
        private(set) var count = 0

        func send(_ page: [ContactValue]) throws { count += page.count }
    }

    @Test func manyObjectsAreReadInPages() async throws {
        try await withContacts { container, _ in
            let server = Server()
            var count = 0
            let request = ObjectRequest<ContactEntity>(order: [.ascending(\.name)])
            for try await page in container.pages(
                as: ContactValue.self, request, size: 500)
            {
                try await server.send(page)
                count += page.count
            }
            #expect(count == 3)
            for try await page in container.pages(as: ContactValue.self, size: 500) {
                try await server.send(page)
            }
            #expect(await server.count == 6)
        }
    }

    @Test func aSequenceHasSeveralLoops() async throws {
        try await withContacts { container, _ in
            let pages = container.pages(
                as: ContactValue.self, ObjectRequest(where: \.age >= 18))
            for try await page in pages {
                print(page.count)
            }
            var iterator = pages.makeAsyncIterator()
            while let page = try await iterator.next() { print(page.count) }
            #expect(try await iterator.next() == nil)
        }
    }
}
