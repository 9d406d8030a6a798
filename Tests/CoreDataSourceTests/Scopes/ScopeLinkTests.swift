import CoreDataSource
import ErrorExpectations
import Testing

/// Links of many-to-many and one-to-one relationships in the answers to overlapping requests. The values of the linked objects do not
/// change.
@MainActor
struct ScopeLinkTests {
    /// What an older answer has, compared with the newest state of the server: the label `a` has the letters `l` and `m`, and the label
    /// `b` has none.
    enum Older: CaseIterable, Sendable {
        /// The letter `l` has another label. The label `a` is not in the answer.
        case letter
        /// The letter `m` is missing.
        case missingLetter
        /// The label `a` has only the letter `m`.
        case label
        /// The label `a` has its letters in another order.
        case order
    }

    private nonisolated static let letters = SyncScope("letters", Letter.self)
    private nonisolated static let labels = SyncScope("labels", Label.self)
    private nonisolated static let newestLabels = [Filed.label("a", ["l", "m"]), .label("b", [])]

    /// Loads a list. The answer to the first request is older than what is stored during the request.
    ///
    /// - Returns: The number of requests.
    private func load<Object: ManagedObject>(
        _ scope: SyncScope<Object>, by source: FiledLetters, _ place: ScopePlace, older: [Filed], newest: [Filed],
        _ later: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        let requests = Shared(0)
        try await source.load(scope, maxAge: .zero, deleting: .all) { _ in
            requests.update { $0 += 1 }
            place.pass(1)
            if requests.value > 1 { return .list(newest) }
            try await later()
            return .list(older)
        }
        return requests.value
    }

    private func load(
        _ older: Older, by source: FiledLetters, _ place: ScopePlace,
        _ later: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        let one = SyncScope("one", Label.self, where: \.key == "a")
        let letters = [Filed.letter("l", ["a"]), .letter("m", ["a"])]
        return switch older {
        case .letter:
            try await load(
                Self.letters, by: source, place, older: [.letter("l", ["b"]), letters[1]], newest: letters, later)
        case .missingLetter:
            try await load(Self.letters, by: source, place, older: [letters[0]], newest: letters, later)
        case .label:
            try await load(
                one, by: source, place, older: [.label("a", ["m"])], newest: [Self.newestLabels[0]], later)
        case .order:
            try await load(
                one, by: source, place, older: [.label("a", ["m", "l"])], newest: [Self.newestLabels[0]], later)
        }
    }

    /// Returns the letters of each label.
    private func links(_ source: FiledLetters) throws -> [String: [String]] {
        try source.fetch(Label.self).reduce(into: [:]) { $0[$1.key] = $1.letters.map(\.key) }
    }

    private func withStore(
        _ kind: ScopeStoreKind, isShared: Bool = false,
        _ body: @MainActor (_ mine: FiledLetters, _ theirs: FiledLetters, ScopePlace) async throws -> Void
    ) async throws {
        let place = try ScopePlace(kind, model: .graph)
        let container = try place.open()
        let other = isShared ? try place.open() : nil
        let mine = try container.dataSource(FiledLetters.self)
        try await body(mine, try other?.dataSource(FiledLetters.self) ?? mine, place)
        try await container.close()
        try await other?.close()
    }

    /// The later list of labels changes nothing, because the store has it already.
    @Test(
        arguments: ScopeStoreKind.allCases.map { ($0, false) } + ScopeStoreKind.shared.map { ($0, true) },
        Older.allCases.flatMap { [($0, false), ($0, true)] })
    func anOlderAnswerChangesNoLinksOfALaterList(
        _ store: (kind: ScopeStoreKind, isShared: Bool), _ older: (answer: Older, isConfirmed: Bool)
    ) async throws {
        try await withStore(store.kind, isShared: store.isShared) { mine, theirs, place in
            try await theirs.load(Self.labels, maxAge: .zero) { _ in .list(Self.newestLabels, entityTag: "1") }
            let count = try await load(older.answer, by: mine, place) {
                try await theirs.load(Self.labels, maxAge: .zero) { _ in
                    older.isConfirmed ? .notModified : .list(Self.newestLabels, entityTag: "2")
                }
            }
            #expect(count == 2)
            #expect(try links(mine) == ["a": ["l", "m"], "b": []])
            #expect(try mine.freshness(of: Self.labels).entityTag == (older.isConfirmed ? "1" : "2"))
        }
    }

    /// The passport is not in the later list, and the row of the person does not store the link.
    @Test(arguments: [true, false])
    func anOlderAnswerChangesNoOneToOneLinkOfALaterList(isConfirmed: Bool) async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(Travelers.self)
            let (all, passports) = (SyncScope("people", Person.self), SyncScope("passports", Passport.self))
            try await people.load(all, maxAge: .zero) { _ in
                .list([.person("p", "x"), .person("q", nil)], entityTag: "1")
            }
            let requests = Shared(0)
            try await people.load(passports, maxAge: .zero) { _ in
                requests.update { $0 += 1 }
                if requests.value > 1 { return .list([.passport("x", "p")]) }
                try await people.load(all, maxAge: .zero) { _ in
                    if isConfirmed { return .notModified }
                    return .list([.person("p", "x"), .person("q", nil)], entityTag: "2")
                }
                return .list([.passport("x", "q")])
            }
            #expect(requests.value == 2)
            #expect(try people.fetch(Passport.self).map { $0.holder?.key } == ["p"])
        }
    }

    // MARK: No needless requests

    /// The hook for a label sets no letters, so the list of labels says nothing about links.
    @Test func aLaterListWithoutLinksRefusesNoLinks() async throws {
        try await withStore(.memory) { source, _, place in
            let labels = [Filed.label("a", nil), .label("b", nil)]
            try await source.add(labels)
            let list = [Filed.letter("l", ["a", "b"])]
            let count = try await load(Self.letters, by: source, place, older: list, newest: list) {
                try await source.load(Self.labels, maxAge: .zero) { _ in .list(labels) }
            }
            #expect(count == 1)
            #expect(try links(source) == ["a": ["l"], "b": ["l"]])
        }
    }

    @Test func lettersOfTwoListsGetTheSameLabel() async throws {
        try await withStore(.memory) { source, _, place in
            try await source.add([.label("a", nil)])
            let list = [Filed.letter("l", ["a"])]
            let one = SyncScope("one", Letter.self, where: \.key == "l")
            let count = try await load(one, by: source, place, older: list, newest: list) {
                let other = SyncScope("other", Letter.self, where: \.key == "m")
                try await source.load(other, maxAge: .zero) { _ in .list([.letter("m", ["a"])]) }
            }
            #expect(count == 1)
            #expect(try links(source).mapValues { $0.sorted() } == ["a": ["l", "m"]])
        }
    }

    /// The third answer may change links that another list, or a list that is not modified, has left as they were.
    @Test(
        arguments: ScopeStoreKind.allCases.map { ($0, false) } + ScopeStoreKind.shared.map { ($0, true) },
        [true, false])
    func linksThatAreConfirmedDuringEachRequestEndNoLoad(
        _ store: (kind: ScopeStoreKind, isShared: Bool), isConfirmed: Bool
    ) async throws {
        try await withStore(store.kind, isShared: store.isShared) { mine, theirs, place in
            try await theirs.load(Self.labels, maxAge: .zero) { _ in .list(Self.newestLabels, entityTag: "1") }
            let requests = Shared(0)
            try await mine.load(Self.letters, maxAge: .zero) { _ in
                requests.update { $0 += 1 }
                place.pass(1)
                try await theirs.load(Self.labels, maxAge: .zero) { _ in
                    isConfirmed ? .notModified : .list(Self.newestLabels, entityTag: "1")
                }
                return .list([.letter("l", ["a"]), .letter("m", ["a"]), .letter("n", ["a"])])
            }
            #expect(requests.value == 3)
            #expect(try links(mine) == ["a": ["l", "m", "n"], "b": []])
        }
    }

    /// If each of the later answers changes links of the same label, no answer is stored.
    @Test(arguments: ScopeStoreKind.allCases.map { ($0, false) } + ScopeStoreKind.shared.map { ($0, true) })
    func linksThatAreChangedDuringEachRequestStay(_ kind: ScopeStoreKind, isShared: Bool) async throws {
        try await withStore(kind, isShared: isShared) { mine, theirs, place in
            try await theirs.load(Self.labels, maxAge: .zero) { _ in .list(Self.newestLabels) }
            let requests = Shared(0)
            await expectError(.scopeChanged) {
                try await mine.load(Self.letters, maxAge: .zero) { _ in
                    requests.update { $0 += 1 }
                    place.pass(1)
                    let letters = requests.value % 2 == 0 ? ["l", "m"] : ["m"]
                    try await theirs.load(Self.labels, maxAge: .zero) { _ in
                        .list([.label("a", letters), .label("b", [])])
                    }
                    return .list([.letter("l", ["a", "b"]), .letter("m", ["a"])])
                }
            }
            #expect(requests.value == 3)
            #expect(try links(mine) == ["a": ["m"], "b": []])
        }
    }
}

/// A letter with its labels, or a label with its letters, as a server sends them.
private struct Filed: Sendable {
    let key: String
    let isLabel: Bool
    /// The keys of the labels or of the letters; nil if the server does not send them.
    let links: [String]?

    static func letter(_ key: String, _ labels: [String]?) -> Self { Self(key: key, isLabel: false, links: labels) }
    static func label(_ key: String, _ letters: [String]?) -> Self { Self(key: key, isLabel: true, links: letters) }
}

private final class FiledLetters: DataSource<Filed> {
    override class var entities: [ManagedObject.Type] { [Letter.self, Label.self, Attachment.self] }

    override func onAdd(_ value: Filed, in context: PrivateContext) throws -> ManagedObject? {
        if value.isLabel {
            let label = try context.label(value.key)
            if let letters = value.links { label.letters = try letters.map { try context.letter($0) } }
            return label
        }
        let letter = try context.letter(value.key)
        if let labels = value.links { letter.labels.set(try labels.map { try context.label($0) }) }
        return letter
    }
}

/// A person with a passport, or a passport with its holder.
private struct Traveler: Sendable {
    let key: String
    let isPassport: Bool
    let link: String?

    static func person(_ key: String, _ passport: String?) -> Self {
        Self(key: key, isPassport: false, link: passport)
    }

    static func passport(_ key: String, _ holder: String) -> Self { Self(key: key, isPassport: true, link: holder) }
}

private final class Travelers: DataSource<Traveler> {
    override class var entities: [ManagedObject.Type] { [Person.self, Passport.self] }

    override func onAdd(_ value: Traveler, in context: PrivateContext) throws -> ManagedObject? {
        if value.isPassport {
            let passport = try context.passport(value.key)
            passport.holder = try value.link.map { try context.person($0) }
            return passport
        }
        let person = try context.person(value.key)
        person.passport = try value.link.map { try context.passport($0) }
        return person
    }
}
