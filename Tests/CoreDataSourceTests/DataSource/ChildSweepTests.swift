import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// Children that come with their parents in one list.
@MainActor @Suite struct ChildSweepTests {
    private let list = [
        TopicValue(
            key: "1",
            letters: [LetterValue(key: "a", attachments: ["x", "y"]), LetterValue(key: "b", attachments: ["z"])]),
        TopicValue(key: "2", letters: [LetterValue(key: "c")]),
    ]

    @Test func childrenThatTheListLacksAreDeletedAndNothingElse() async throws {
        try await withBoard(BoardDataSource.self) { container, board in
            let first = try await board.sync(list, entity: Topic.self, options: .reportsIDs)
            #expect(try await container.board() == ["1": ["a": ["x", "y"], "b": ["z"]], "2": ["c": []]])
            #expect(first.inserted == 2 && first.insertedChildren == 6 && first.updatedChildren == 0)
            #expect(Set(first.ids?.insertedChildren.map(\.entityName) ?? []) == ["Letter", "Attachment"])
            var less = list
            less[0].letters = [LetterValue(key: "a", attachments: ["y", "w"])]
            let report = try await board.sync(less, entity: Topic.self, options: .reportsIDs)
            #expect(try await container.board() == ["1": ["a": ["y", "w"]], "2": ["c": []]])
            // The attachment of the letter that is gone followed by the model's rule.
            #expect(try await container.childCounts() == [2, 2])
            #expect(report.deleted == 0 && report.deletedChildren == 2 && report.keptChildren == 0)
            #expect(report.totalDeleted == 3)
            #expect(report.insertedChildren == 1 && report.updatedChildren == 0)
            #expect(Set(report.ids?.deletedChildren.map(\.entityName) ?? []) == ["Letter", "Attachment"])
        }
    }

    @Test func theSameListAgainWritesNothing() async throws {
        for configuration in [PersistentContainer.Configuration(), .uncached] {
            try await withBoard(BoardDataSource.self, configuration) { container, board in
                try await board.add(list)
                #expect(try await board.add(list) == SaveReport())
                let again = try await board.sync(list, entity: Topic.self)
                #expect(again.unchanged == 2 && again.deletedChildren == 0)
                #expect(again.insertedChildren == 0 && again.updatedChildren == 0)
            }
        }
    }

    @Test func aChildThatMovesToAnotherParentStaysTheSameObject() async throws {
        for parents in [["1", "2"], ["2", "1"]] {
            try await withBoard(BoardDataSource.self) { container, board in
                try await board.sync(list, entity: Topic.self)
                let before = try board.fetch(Letter.self, where: \.key == "b").map(\.objectID)
                let moved = [
                    "1": TopicValue(key: "1", letters: [LetterValue(key: "a", attachments: ["x", "y"])]),
                    "2": TopicValue(
                        key: "2", letters: [LetterValue(key: "c"), LetterValue(key: "b", attachments: ["z"])]),
                ]
                let report = try await board.add(parents.compactMap { moved[$0] })
                #expect(report == SaveReport(updated: 1))
                #expect(try board.fetch(Letter.self, where: \.key == "b").map(\.objectID) == before)
                #expect(try await container.board()["2"] == ["b": ["z"], "c": []])
            }
        }
    }

    @Test func childrenThatTheBatchMovesOrKeepsElsewhereStay() async throws {
        try await withBoard(BoardDataSource.self) { container, board in
            try await board.add(list)
            try await board.perform { context in
                try context.sweep(\.letters, of: context.topic("1"), keeping: [], options: .allowsEmpty)
                try context.letter("a").topic = context.topic("2")
                try context.sweep(\.letters, of: context.topic("3"), keeping: [context.letter("b")])
            }
            #expect(
                try await container.board() == ["1": ["b": ["z"]], "2": ["a": ["x", "y"], "c": []], "3": [:]])
        }
    }

    /// Children of the same entity may have values of their own in the list.
    private final class TreeDataSource: DataSource<FolderValue> {
        override class var entities: [ManagedObject.Type] { [Folder.self] }

        override func onAdd(_ value: FolderValue, in context: PrivateContext) throws -> ManagedObject? {
            let folder = try context.folder(value.key)
            folder.parent = try value.parent.map { try context.folder($0) }
            try context.sweep(\.children, of: folder, keeping: [], options: .allowsEmpty)
            return folder
        }
    }

    @Test func anObjectThatAHookReturnsForAValueStays() async throws {
        try await withEmptyGraph { container in
            let tree = try container.dataSource(TreeDataSource.self)
            let list = [FolderValue(key: "root"), FolderValue(key: "leaf", parent: "root")]
            try await tree.add(list)
            #expect(try await tree.add(list) == SaveReport())
            try await tree.sync(list, entity: Folder.self)
            #expect(try tree.count(Folder.self) == 2)
            #expect(try await tree.add([list[0]]) == SaveReport(deleted: 1))
        }
    }

    @Test func theLaterOfTwoListsForOneParentStands() async throws {
        try await withBoard(BoardDataSource.self) { container, board in
            try await board.sync(list, entity: Topic.self)
            let values = [
                TopicValue(key: "1", letters: [LetterValue(key: "new"), LetterValue(key: "b")]),
                TopicValue(key: "1", letters: [LetterValue(key: "a")]),
            ]
            try await board.add(values)
            #expect(try await container.board()["1"] == ["a": []])
            #expect(try await container.childCounts() == [2, 0])
        }
    }

    @Test func aPlanSaysWhatWouldBeSweptAndDoesNothing() async throws {
        try await withBoard(BoardDataSource.self) { container, board in
            try await board.sync(list, entity: Topic.self)
            let plan = try await board.planSync([TopicValue(key: "1")], entity: Topic.self)
            #expect(plan.deleted == 1 && plan.deletedChildren == 2)
            #expect(try await container.childCounts() == [3, 3])
        }
    }

    // MARK: Guards

    private func code(_ call: () async throws -> Void) async -> DataSourceError.Code? {
        do {
            try await call()
            return nil
        } catch {
            return (error as? DataSourceError)?.code
        }
    }

    @Test func anEmptyListOverChildrenIsRefusedUnlessItIsMeant() async throws {
        try await withBoard(StrictBoardDataSource.self) { container, board in
            try await board.add(list)
            let empty = [TopicValue(key: "1", title: "new")]
            #expect(await code { try await board.add(empty) } == .emptySync)
            #expect(await code { try await board.sync(empty + [list[1]], entity: Topic.self) } == .emptySync)
            #expect(try await container.childCounts() == [3, 3])
            #expect(try board.count(Topic.self, where: \.title == "new") == 0)
            let report = try await board.sync(empty, entity: Topic.self, deleting: .none, options: .allowsEmpty)
            #expect(report.deletedChildren == 0 && report.keptChildren == 2)
            try await board.sync(empty + [list[1]], entity: Topic.self, options: .allowsEmpty)
            #expect(try await container.board() == ["1": [:], "2": ["c": []]])
            // Without children there is nothing to be refused.
            try await board.add(empty)
        }
    }

    @Test func aListWithIgnoredChildrenDeletesNoneUnlessItMay() async throws {
        try await withBoard(BoardDataSource.self) { container, board in
            try await board.add(list)
            let value = TopicValue(key: "1", letters: [nil, LetterValue(key: "a", attachments: ["x", "y"])])
            let kept = try await board.sync([value, list[1]], entity: Topic.self)
            #expect(kept.keptChildren == 1 && kept.deletedChildren == 0)
            let swept = try await board.sync(
                [value, list[1]], entity: Topic.self, options: .allowsIgnoredValues)
            #expect(swept.keptChildren == 0 && swept.deletedChildren == 1)
        }
    }

    @Test func moreChildrenThanAllowedAreAnErrorThatChangesNothing() async throws {
        try await withBoard(CarefulBoardDataSource.self) { container, board in
            let four = (0..<4).map { LetterValue(key: "\($0)") }
            try await board.add([TopicValue(key: "1", letters: four)])
            let one = [TopicValue(key: "1", letters: [four[0], LetterValue(key: "new")])]
            #expect(await code { try await board.add(one) } == .tooManyDeletions)
            let half = [TopicValue(key: "1", letters: [four[0], four[1]])]
            // The rules of a sync count for the children of all its parents together.
            #expect(
                await code { try await board.sync(half, entity: Topic.self, deleting: .atMost(0.4)) }
                    == .tooManyDeletions)
            #expect(try await container.childCounts() == [4, 0])
            try await board.sync(half, entity: Topic.self, deleting: .atMost(0.5))
            #expect(try await container.childCounts() == [2, 0])
        }
    }

    @Test func aSyncThatMayNotDeleteSweepsNothing() async throws {
        try await withBoard(BoardDataSource.self) { container, board in
            try await board.add(list)
            let value = TopicValue(key: "1", letters: [LetterValue(key: "new")])
            for rules in [(SyncDeletion.none, SyncOperations.all), (.all, [.insert, .update])] {
                let report = try await board.sync(
                    [value], entity: Topic.self, deleting: rules.0, operations: rules.1)
                #expect(report.keptChildren == 2 && report.deletedChildren == 0)
            }
            #expect(try await container.childCounts() == [4, 3])
        }
    }

    // MARK: Anywhere

    @Test func performSweepsAtItsEnd() async throws {
        try await withBoard(BoardDataSource.self) { container, board in
            try await board.add(list)
            try await board.perform { context in
                let topic = try context.topic("1")
                try context.sweep(\.letters, of: topic, keeping: [context.letter("a")])
                #expect(topic.letters.count == 2)
            }
            #expect(try await container.childCounts() == [2, 2])
            try await board.perform { context in
                try context.sweep(\.letters, of: context.topic("1"), keeping: [], options: .allowsEmpty)
                context.rollback()
            }
            #expect(try await container.childCounts() == [2, 2])
        }
    }

    @Test func onlyChildrenOfOneParentThatAreOwnedAreSwept() async throws {
        try await withEmptyGraph { container in
            let graph = try container.dataSource(GraphDataSource.self)
            for isOrdered in [false, true] {
                await expectError(.invalidRequest) {
                    try await graph.perform { context in
                        if isOrdered {
                            try context.sweep(\.letters, of: context.label("1"), keeping: [])
                        } else {
                            try context.sweep(\.labels, of: context.letter("1"), keeping: [])
                        }
                    }
                }
            }
        }
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add(["a", "b"])
            await expectError(.entityNotOwned) {
                try await topics.perform { try $0.sweep(\.letters, of: $0.topic("t"), keeping: []) }
            }
            try await letters.perform { context in
                guard let topic = try context.first(Topic.self, where: \.key, equals: "t") else { return }
                try context.sweep(\.letters, of: topic, keeping: [context.letter("b")])
            }
            #expect(try letters.fetch(Letter.self).map(\.key) == ["b"])
            try await container.perform(in: topics, letters) { topics, letters in
                try letters.sweep(\.letters, of: topics.topic("t"), keeping: [], options: .allowsEmpty)
            }
            #expect(try letters.count(Letter.self) == 0)
        }
    }

    @Test func theChildrenOfManyParentsAreReadTogether() async throws {
        try await withBoard(BoardDataSource.self, .uncached) { container, board in
            try await board.perform { context in
                for number in 0..<1000 { try context.letter("\(number)").topic = context.topic("\(number % 500)") }
            }
            let before = container.statementCount
            try await board.perform { context in
                for topic in try context.fetch(Topic.self) {
                    try context.sweep(\.letters, of: topic, keeping: Array(topic.letters))
                }
            }
            #expect(container.statementCount - before < 20)
            #expect(try await container.childCounts() == [1000, 0])
        }
    }

    // MARK: Against a reference

    @Test(arguments: 0..<4) func everySyncLeavesTheObjectsOfItsLists(part: UInt64) async throws {
        let seed = testSeed() &+ part
        var random = SeededRandom(seed: seed)
        try await withBoard(BoardDataSource.self, part % 2 == 0 ? .init() : .uncached) { container, board in
            for step in 0..<40 {
                let list = randomList(&random)
                var expected: BoardContents = [:]
                for topic in list {
                    expected[topic.key] = Dictionary(
                        topic.letters.compactMap { $0.map { ($0.key, $0.attachments) } }
                    ) { $1 }
                }
                try await board.sync(list, entity: Topic.self, options: .allowsEmpty)
                let label: Testing.Comment = "seed \(seed), step \(step): \(list)"
                #expect(try await container.board() == expected, label)
                let letters = expected.values.reduce(0) { $0 + $1.count }
                let attachments = expected.values.joined().reduce(0) { $0 + $1.value.count }
                #expect(try await container.childCounts() == [letters, attachments], label)
                #expect(try await board.add(list) == SaveReport(), label)
            }
        }
    }

    /// Topics in any order; each letter has one topic and each attachment one letter.
    private func randomList(_ random: inout SeededRandom) -> [TopicValue] {
        var topics = (0..<4).map { TopicValue(key: "\($0)") }.shuffled(using: &random)
        var letters = (0..<6).map { LetterValue(key: "\($0)") }
        for attachment in 0..<8 where Bool.random(using: &random) {
            letters[Int.random(in: letters.indices, using: &random)].attachments.append("\(attachment)")
        }
        topics.removeLast(Int.random(in: 0...2, using: &random))
        for letter in letters where Int.random(in: 0..<3, using: &random) > 0 {
            topics[Int.random(in: topics.indices, using: &random)].letters.append(letter)
        }
        return topics
    }
}
