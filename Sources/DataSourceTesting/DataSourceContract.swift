public import CoreDataSource

/// Checks that the hooks of a data source follow the rules that apply to every data source.
///
/// ```swift
/// @Test func contactsKeepTheContract() async throws {
///     let contract = DataSourceContract(
///         ContactDataSource.self, model: .contacts, entity: ContactEntity.self,
///         values: [
///             Contact(uid: "1", name: "Guan Yu"),
///             Contact(uid: "2", name: "Zhang Fei")
///         ])
///     try await contract.check()
/// }
/// ```
///
/// Each check uses its own stores in memory. Objects are compared by their attributes, and by the attributes of the
/// objects that they are linked to. Transient attributes, derived attributes and IDs are ignored. The contract works with
/// any test framework.
///
/// Values can link to each other, as a reply links to its message. If the values are added one by one, the object of a later
/// value does not exist yet, so a hook leaves the link nil. In this case, the contract adds the values one by one a second
/// time, and only then compares the objects. Set such links in `link(_:from:in:)` of a `KeyedDataSource`: the library calls
/// this hook each time that a value is added.
///
/// **Isolation**: none. The data sources are created on the main actor, so the main actor must not be blocked.
public struct DataSourceContract<Value: Sendable, Source: DataSource<Value>, Object: ManagedObject>: Sendable {
    let model: ManagedObjectModel
    let values: [Value]
    let refused: [Value]
    private let prepare: @Sendable (PersistentContainer) async throws -> Void

    /// Makes a contract for a data source, with values to try.
    ///
    /// ```swift
    /// let contract = DataSourceContract(
    ///     ContactDataSource.self, model: .contacts, entity: ContactEntity.self,
    ///     values: [
    ///         Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")
    ///     ],
    ///     refused: [Contact(uid: "", name: "")])
    /// ```
    ///
    /// If hooks look up objects of other data sources, add these objects first:
    ///
    /// ```swift
    /// let contract = DataSourceContract(
    ///     RecruitDataSource.self, model: .contacts, entity: ContactEntity.self,
    ///     values: [Recruit(uid: "1", gid: "7"), Recruit(uid: "2", gid: "7")]
    /// ) { container in
    ///     let groups = try await container.dataSource(GroupDataSource.self)
    ///     try await groups.add(Group(gid: "7", name: "Oath"))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - source: The class of the data source.
    ///   - model: The model of the data source.
    ///   - entity: The class of the objects that hooks make from the values. If hooks make objects of several entities, make a
    ///     contract for each entity.
    ///   - values: At least two values with different keys.
    ///   - refused: Values for which a hook throws.
    ///   - prepare: Adds objects of other data sources to each new store, before the hooks get any value. By default, adds
    ///     nothing. The closure must add the same objects each time, and no objects of `entity`. The closure is not isolated.
    public init(
        _ source: Source.Type, model: ManagedObjectModel, entity: Object.Type, values: [Value], refused: [Value] = [],
        prepare: @escaping @Sendable (PersistentContainer) async throws -> Void = { _ in }
    ) {
        self.model = model
        self.values = values
        self.refused = refused
        self.prepare = prepare
    }

    /// Checks all rules.
    ///
    /// ```swift
    /// for violation in try await contract.violations() { print(violation) }
    /// ```
    ///
    /// - Complexity: `onAdd` gets each element of `values` about 16 times, once more if values link to later values, and at most
    ///   2 more times for each element of `refused`.
    /// - Throws: Any error from preparing the first store or from adding the values to that store, because without
    ///   objects no rule can be checked. `CancellationError` if the task is canceled.
    /// - Returns: The broken rules; empty if the data source keeps all rules.
    public func violations() async throws -> [DataSourceViolation] {
        let expected = try await withSource { try await contents(after: values, in: $0, $1) }
        guard values.count > 1, !expected.isEmpty(of: Object.self) else {
            return [
                DataSourceViolation(
                    rule: .values,
                    explanation:
                        "The number of values is \(values.count), and the number of their \(Object.entityName) objects is \(expected.count(of: Object.self)). Pass at least two values that make objects of this entity."
                )
            ]
        }
        var violations: [DataSourceViolation] = []
        try await violations.append(.adding) { try await checkAdding(expected) }
        try await violations.append(.deleting) { try await checkDeleting(expected) }
        try await violations.append(.syncing) { try await checkSyncing() }
        try await violations.append(.order) { try await checkOrder(expected) }
        try await violations.append(.throwing) { try await checkThrowing(expected) }
        return violations
    }

    /// Checks all rules, and throws an error if the data source breaks a rule.
    ///
    /// ```swift
    /// @Test func contactsKeepTheContract() async throws { try await contract.check() }
    /// ```
    ///
    /// - Complexity: the same as for ``violations()``.
    /// - Throws: ``DataSourceContractError`` with the broken rules, and the errors of ``violations()``.
    public func check() async throws {
        let violations = try await violations()
        if !violations.isEmpty { throw DataSourceContractError(violations: violations) }
    }

    // MARK: Stores

    /// Calls the body with a data source of a new store that contains only the prepared objects.
    func withSource<Result: Sendable>(
        _ body: (PersistentContainer, Source) async throws -> Result
    ) async throws -> Result {
        let container = try await PersistentContainer.empty(model)
        do {
            let source = try await container.dataSource(Source.self)
            try await prepare(container)
            let result = try await body(container, source)
            try await container.close()
            return result
        } catch {
            try? await container.close()
            throw error
        }
    }

    func contents(
        after values: [Value], in container: PersistentContainer, _ source: Source
    ) async throws -> StoredContents {
        try await source.add(values)
        return try await StoredContents(container)
    }
}

extension PersistentContainer {
    /// Makes a container in memory. The function `opened` returns a `Result` and does not throw, because after a throw,
    /// optimized code of Swift 6.3 does not return to the caller's actor. See https://github.com/swiftlang/swift/issues/88259.
    static func empty(_ model: ManagedObjectModel) async throws -> PersistentContainer {
        try await opened(model).get()
    }

    @concurrent
    private static func opened(_ model: ManagedObjectModel) async -> Result<PersistentContainer, any Error> {
        do { return .success(try await PersistentContainer(model: model, store: .inMemory)) } catch {
            return .failure(error)
        }
    }
}

extension [DataSourceViolation] {
    /// Runs a check, and adds a violation for each sentence of the check, or for the error that the check throws.
    fileprivate mutating func append(
        _ rule: DataSourceRule, _ check: () async throws -> [String]
    ) async throws {
        do {
            self += try await check().map { DataSourceViolation(rule: rule, explanation: $0) }
        } catch let error as CancellationError {
            throw error
        } catch {
            append(DataSourceViolation(rule: rule, explanation: "A call threw an unexpected error: \(error)"))
        }
    }
}
