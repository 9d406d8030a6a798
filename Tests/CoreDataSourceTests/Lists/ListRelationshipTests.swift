import CoreDataSource
import TestSupport
import Testing

/// What a list says of the relationships of its objects.
@MainActor @Suite struct ListRelationshipTests {
    private final class Silent: DataSourceDelegate {
        func didChangeContent(dataKey: String) {}
    }

    @Test func theReasonNamesRelationshipsReadOneByOne() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for number in 0..<20 { try context.letter("\(number)").topic = try context.topic("\(number)") }
            }
            let delegate = Silent()
            try source.register(delegate, dataKey: "letters", FetchRequest(Letter.self))
            let list = try source.list(FetchRequest(Letter.self))
            #expect(list.lastUpdateReason.readOneByOne.isEmpty)
            var held: [Letter] = []
            for index in 0..<3 {
                let letter = try #require(list.object(index))
                #expect(letter.topic?.key == "\(index)")
                held.append(letter)
            }
            #expect(list.lastUpdateReason.readOneByOne == ["topic": 3])
            let reason = try #require(source.lastUpdateReason(dataKey: "letters"))
            #expect(reason.readOneByOne == ["topic": 3] && "\(reason)".contains("read one by one: topic 3 times"))

            let before = container.statementCount
            let all = source.allObjects(dataKey: "letters", as: Letter.self)
            #expect(all.compactMap { $0.topic?.key }.count == 20)
            #expect(container.statementCount - before == 1)
            #expect(list.lastUpdateReason.readOneByOne == ["topic": 3])
            withExtendedLifetime((delegate, held)) {}
        }
    }
}
