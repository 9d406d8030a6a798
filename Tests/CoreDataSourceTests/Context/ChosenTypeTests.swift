import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Attributes whose Swift type the model's author has chosen: enums, other types with raw values, and `Int`.
@MainActor
struct ChosenTypeTests {
    private nonisolated static let rows: [(uid: String, edit: @Sendable (TaskEntity) -> Void)] = [
        ("1", { _ in }),
        (
            "2",
            {
                $0.state = .done
                $0.venue = .home
                $0.priority = .low
                $0.urgency = .high
                $0.effort = .large
                $0.minutes = 30
                $0.estimate = -1
                $0.labels = [.urgent, .shared]
                $0.origin = Origin(cost: 7, venue: .office, detour: .home)
            }
        ),
        (
            "3",
            {
                $0.venue = .office
                $0.priority = .none
                $0.effort = .small
                $0.minutes = .max
                $0.labels = .urgent
            }
        ),
    ]

    private func withTasks(
        _ kind: StoreKind, _ body: @MainActor (PersistentContainer, PlainDataSource<TaskEntity>) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .tasks, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory)
        let tasks = try container.dataSource(PlainDataSource<TaskEntity>.self)
        try await tasks.perform { context in
            for row in ChosenTypeTests.rows {
                row.edit(try context.findOrInsert(TaskEntity.self, where: \.uid, equals: row.uid))
            }
        }
        try await body(container, tasks)
        try await container.close()
    }

    @Test(arguments: StoreKind.allCases)
    func valuesAreReadAsTheyWereSet(_ kind: StoreKind) async throws {
        try await withTasks(kind) { container, tasks in
            let all = try tasks.fetch(TaskEntity.self, order: [.ascending(\.uid)])
            try #require(all.count == 3)
            #expect(all.map(\.state) == [.open, .done, .open])
            #expect(all.map(\.venue) == [nil, .home, .office])
            #expect(all.map(\.priority) == [.high, .low, Priority.none])
            #expect(all.map(\.urgency) == [nil, .high, nil])
            #expect(all.map(\.effort) == [nil, .large, .small])
            #expect(all.map(\.minutes) == [0, 30, Int.max])
            #expect(all.map(\.estimate) == [nil, -1, nil])
            #expect(all.map(\.labels) == [[], [.urgent, .shared], .urgent])
            #expect(all.map(\.origin) == [nil, Origin(cost: 7, venue: .office, detour: .home), nil])
            try await tasks.perform { context in
                let task = try #require(try context.first(TaskEntity.self, where: \.uid, equals: "2"))
                task.venue = nil
                task.state = .open
                #expect(task.changedAttributes == ["state", "venue"])
            }
            #expect(try tasks.count(TaskEntity.self, where: \.venue == nil && \.state == .open) == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func typedPredicatesCompareThem(_ kind: StoreKind) async throws {
        try await withTasks(kind) { container, tasks in
            @MainActor func found(_ predicate: FetchPredicate<TaskEntity>) throws -> String {
                try tasks.fetch(TaskEntity.self, where: predicate, order: [.ascending(\.uid)]).map(\.uid).joined()
            }
            let all = try found(.all)
            #expect(all == "123")
            #expect(try found(\.state == .open) == "13")
            #expect(try found(\.state != .open) == "2")
            #expect(try found(\.venue == .home) == "2")
            #expect(try found(\.venue != .home) == "13")
            #expect(try found(\.venue != nil) == "23")
            #expect(try found(\.venue == nil) == "1")
            #expect(try found(.isIn(\.venue, [.home, .office])) == "23")
            #expect(try found(.isIn(\.state, [.done])) == "2")
            #expect(try found(.isIn(\.venue, [nil, .home])) == "12")
            #expect(try found(\.effort == .large) == "2")
            #expect(try found(\.urgency == .high) == "2")
            // By the raw values, whatever the order of the type is.
            #expect(try found(\.priority < .high) == "23")
            #expect(try found(\.labels == [.urgent, .shared]) == "2")
            #expect(try found(\.minutes > 30) == "3")
            #expect(try found(\.estimate == -1) == "2")
            #expect(try found(1...40 ~= \.minutes) == "2")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func formatsAndMacrosCompareThem(_ kind: StoreKind) async throws {
        try await withTasks(kind) { container, tasks in
            @MainActor func found(_ predicate: FetchPredicate<TaskEntity>) throws -> String {
                #expect(predicate.needsObjects == nil)
                return try tasks.fetch(TaskEntity.self, where: predicate, order: [.ascending(\.uid)]).map(\.uid)
                    .joined()
            }
            let done = try found(FetchPredicate(format: "state == %@", TaskState.done))
            #expect(done == "2")
            #expect(try found(FetchPredicate(format: "venue IN %@", [Venue.home, nil])) == "12")
            #expect(try found(FetchPredicate(format: "labels & %@ != 0", Labels.shared)) == "2")
            #expect(try found(FetchPredicate(format: "priority < %@", Priority.high)) == "23")
            let (open, home, none, high) = (TaskState.open, Venue.home, Venue?.none, Priority.high)
            let (venues, large, shared) = ([Venue.home, .office], Work.Effort.large, [Labels.urgent, .shared])
            #expect(try found(FetchPredicate(#Predicate { $0.state == open })) == "13")
            #expect(try found(FetchPredicate(#Predicate { $0.state != open })) == "2")
            #expect(try found(FetchPredicate(#Predicate { $0.venue == home })) == "2")
            #expect(try found(FetchPredicate(#Predicate { $0.venue == none })) == "1")
            #expect(try found(FetchPredicate(#Predicate { $0.venue != nil })) == "23")
            #expect(try found(FetchPredicate(#Predicate { ($0.venue ?? home) == home })) == "12")
            #expect(try found(FetchPredicate(#Predicate { $0.venue.flatMap { venues.contains($0) } == true })) == "23")
            #expect(try found(FetchPredicate(#Predicate { $0.effort == large && $0.urgency == high })) == "2")
            #expect(try found(FetchPredicate(#Predicate { shared.contains($0.labels) })) == "3")
            #expect(try found(FetchPredicate(#Predicate { $0.minutes - 1 > 3 && ($0.estimate ?? 0) < 0 })) == "2")
        }
    }

    /// The order of a type is its own, so it is asked of the objects; that of the raw values would give another answer.
    @Test func aMacroComparesByTheOrderOfTheType() async throws {
        try await withTasks(.sqlite) { container, tasks in
            let high = Priority.high
            let predicate = FetchPredicate<TaskEntity>(#Predicate { $0.priority > high })
            #expect(predicate.needsObjects != nil)
            let found = try tasks.fetch(TaskEntity.self, where: predicate)
            #expect(found.map(\.uid) == ["3"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func chosenTypesAreSortedGroupedAndCountedByTheirRawValues(_ kind: StoreKind) async throws {
        try await withTasks(kind) { container, tasks in
            let request = ObjectRequest<TaskEntity>(order: [.descending(\.priority)])
            #expect(try tasks.fetch(request).map(\.uid) == ["1", "2", "3"])
            #expect(try tasks.fetch(TaskEntity.self, order: [.ascending(\.venue)]).map(\.uid) == ["1", "2", "3"])
            let main = container.main
            #expect(try main.values(request, \.state) == [.open, .done, .open])
            #expect(try main.values(request, \.venue) == [nil, .home, .office])
            let highest: Priority? = try main.aggregate(request, .max(\.priority))
            #expect(highest == .high)
            let small = ObjectRequest<TaskEntity>(where: \.minutes < 40)
            let (sum, average) = try main.aggregate(small, .sum(\.minutes), .average(\.estimate))
            #expect(sum as Int == 30 && average == -1)
            expectThrows(DataSourceError.self) { try main.aggregate(request, .sum(\.minutes)) as Int }
            let groups = try main.aggregate(request, groupBy: \.state, .count())
            #expect(groups.map(\.key) == [.open, .done] && groups.map(\.values) == [2, 1])
            let report = try await tasks.update(
                TaskEntity.self, where: \.venue == nil, set: [.set(\.venue, .home), .set(\.state, .done)])
            #expect(report.updated == 1)
            #expect(try tasks.count(TaskEntity.self, where: \.venue == .home && \.state == .done) == 2)
        }
    }

    @Test func sectionsHaveTheRawValue() async throws {
        try await withTasks(.sqlite) { container, tasks in
            let request = ObjectRequest<TaskEntity>(order: [.ascending(\.state), .ascending(\.uid)])
            for await update in tasks.updates(request, sectionBy: \.state) {
                #expect(update.snapshot.sections.map(\.name) == ["done", "open"])
                #expect(update.snapshot.map(\.uid) == ["2", "1", "3"])
                break
            }
        }
    }

    /// The default value of the model, the raw value 0, or the first case.
    @Test func nilReadsAsTheDefaultTheZeroOrTheFirstCase() async throws {
        let attributes = [
            AttributeDescription(name: "share", type: .double, defaultValue: .double(0.5)),
            AttributeDescription(name: "labels", type: .integer32), AttributeDescription(name: "season", type: .string),
        ]
        var model = ManagedObjectModel(
            name: "Plans", entities: [EntityDescription(name: "Plan", attributes: attributes)])
        model.classes = ["Plan": PlanEntity.self]
        let columns = try #require(model.entities.first.map { model.columns(of: $0).map(\.name) })
        #expect(columns == ["share", "labels", "season"])
        let container = try await PersistentContainer(model: model, store: .inMemory)
        try await container.dataSource(PlainDataSource<PlanEntity>.self).perform { context in
            let plan = try context.insert(PlanEntity.self)
            #expect(plan.share == .half && plan.labels == [] && plan.season == .spring)
            plan.setNil(at: 0)
            #expect(plan.share == .half)
            context.delete(plan)
        }
        try await container.close()
    }

    /// A type that is stored in a form of its own is compared in that form.
    @Test func aTypeWithAFormOfItsOwnIsComparedInThat() throws {
        #expect((\CodeEntity.code == Code(rawValue: "b")).predicateFormat == "code == STORED(\"B\")")
        let format = try FetchPredicate<CodeEntity>(format: "code == %@", Code(rawValue: "b"))
        #expect(format.predicateFormat == "code == STORED(\"B\")")
    }

    @Test func predicatesSayTheRawValue() throws {
        let predicate: FetchPredicate<TaskEntity> =
            \.state == .done && \.labels == .shared && .isIn(\.venue, [.home, nil])
        #expect(predicate.predicateFormat == "state == \"done\" AND labels == 2 AND venue IN {\"home\", NULL}")
        #expect(try FetchPredicate(format: predicate.predicateFormat) == predicate)
    }

    /// What is of no case is nil where that can be, otherwise the model's default value; and it is reported.
    @Test(arguments: [
        ("state", "'gone'"), ("venue", "'moon'"), ("priority", "9"), ("urgency", "-1"), ("effort", "2"),
        // What its low 16 bits are is of a case.
        ("effort", "65537"), ("origin.detour", "''"),
    ])
    func aValueWithoutACaseIsReportedAndReadAsTheDefault(_ attribute: String, _ sql: String) async throws {
        let directory = try TemporaryDirectory()
        var container = try await PersistentContainer(model: .tasks, store: .sqlite(directory.store))
        try await container.dataSource(PlainDataSource<TaskEntity>.self).perform { context in
            let task = try context.insert(TaskEntity.self)
            task.uid = "1"
            task.state = .done
            task.priority = .low
            task.urgency = .low
            task.venue = .home
            task.effort = .large
            task.origin = Origin(cost: 1, venue: .office, detour: .home)
        }
        try await container.close()
        try RawConnection(directory.store).execute(
            "UPDATE TaskEntity SET \"\(attribute)\" = \(sql), uid = CAST(x'ff' AS TEXT)")
        container = try await PersistentContainer(model: .tasks, store: .sqlite(directory.store))
        let failures = container.failures.map(\.error)
        let task = try #require(try container.main.fetch(TaskEntity.self).first)
        #expect(task.state == (attribute == "state" ? .open : .done))
        #expect(task.priority == (attribute == "priority" ? .high : .low))
        #expect(task.urgency == (attribute == "urgency" ? nil : .low))
        #expect(task.venue == (attribute == "venue" ? nil : .home))
        #expect(task.effort == (attribute == "effort" ? nil : .large))
        #expect(task.origin?.detour == (attribute == "origin.detour" ? nil : .home))
        let request = ObjectRequest<TaskEntity>()
        var thrown: DataSourceError?
        do {
            _ = try container.main.values(request, \.state, \.priority, \.venue, \.urgency, \.effort)
        } catch let error as DataSourceError { thrown = error }
        // The leaf of a composite is not among them.
        #expect(thrown?.attributeName == (attribute == "origin.detour" ? nil : attribute))
        #expect(thrown == nil || thrown?.code == .damagedValue)
        // They are reported in their order, so that this one is the last.
        _ = task.uid
        var reported: Set<String?> = []
        for await failure in failures {
            #expect(failure.code == .damagedValue)
            reported.insert(failure.attributeName)
            if failure.attributeName == "uid" { break }
        }
        #expect(reported == [attribute, "uid"])
        try await container.close()
    }
}

/// Stored in capitals.
private struct Code: RawRepresentable, AttributeStorable {
    let rawValue: String

    static func read(from object: ManagedObject, at column: Int) -> Code {
        Code(rawValue: String.read(from: object, at: column).lowercased())
    }

    static func write(_ value: Code, to object: ManagedObject, at column: Int) {
        String.write(value.rawValue.uppercased(), to: object, at: column)
    }

    var storedValue: StoredValue { rawValue.uppercased().storedValue }
}

private final class CodeEntity: ManagedObject {
    override class var entityName: String { "Code" }
    override class var attributeKeyPaths: [AnyKeyPath: String] { [\CodeEntity.code: "code"] }

    var code: Code { attribute(at: 0) }
}

private enum Share: Double, AttributeStorable {
    case all = 1
    case half = 0.5
}

private enum Season: String, AttributeStorable, CaseIterable {
    case spring, autumn
}

private final class PlanEntity: ManagedObject {
    override class var entityName: String { "Plan" }

    var share: Share { attribute(at: 0) }
    var labels: Labels { attribute(at: 1) }
    var season: Season { attribute(at: 2) }
}
