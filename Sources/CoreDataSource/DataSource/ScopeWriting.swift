internal import Foundation
internal import RowStore

/// An answer that was saved.
struct WrittenAnswer: Sendable {
    var report: SyncReport
    /// The objects and the ignored values of this page, for the later pages of the list.
    let page: ListedPages
    /// The number of the answer.
    let number: Int64
}

/// The pages of a list that were added so far.
struct ListedPages: Sendable {
    /// The listed objects.
    var objects: Set<LinkEnd> = []
    /// The number of values for which the hook returned nil.
    var ignored = 0

    mutating func add(_ page: ListedPages) {
        objects.formUnion(page.objects)
        ignored += page.ignored
    }
}

/// The arguments for storing an answer for a scope.
struct ScopeWriting<Object: ManagedObject>: Sendable {
    let scope: SyncScope<Object>
    let requestedAt: Date
    let deletion: SyncDeletion
    var options: SyncOptions
    /// The state of the scope at the request; nil to write in any state.
    var basis: LoadBasis?
    /// The objects that were in scope before the request. Of the objects that the list lacks, only these are deleted. If nil,
    /// all objects that are in scope at the write can be deleted.
    var candidates: Set<LinkEnd>?
    /// The request that was answered.
    var answered: AnsweredRequest

    init(_ scope: SyncScope<Object>, requestedAt: Date, deletion: SyncDeletion, options: SyncOptions) {
        self.scope = scope
        self.requestedAt = requestedAt
        self.deletion = deletion
        self.options = options
        answered = AnsweredRequest(number: nil, requestedAt: requestedAt, scope: scope.name)
    }

    private init(deletingAll other: Self) {
        self.init(
            other.scope, requestedAt: other.requestedAt, deletion: .all, options: other.options.union(.allowsEmpty))
        (basis, candidates, answered) = (other.basis, other.candidates, other.answered)
    }

    var deletingAll: Self { Self(deletingAll: self) }

    /// The ``ScopeFreshness/version`` from which the request has taken its cursor, if the answer may have only the changes since this
    /// cursor; otherwise nil. Such an answer may lack objects that were deleted since, although the server has them. The store compares
    /// the version when it writes the answer, so a deletion by another process or by a pending save counts, too.
    var changesSince: Int64? {
        guard let basis, basis.hasCursor, !deletion.deletes else { return nil }
        return basis.version
    }
}

/// The part of a list that an answer contains.
enum ListPart: Sendable {
    /// The whole list, with its entity tag and cursor.
    case whole(String?, String?)
    /// A part of a list, with the cursor of the next part.
    case part(String?)
    /// A page of a load that requests all pages, with the cursor of the next page.
    case page(ListedPages, String?)

    var earlierPages: ListedPages { if case .page(let pages, _) = self { pages } else { ListedPages() } }

    /// Whether objects that are not in the list are deleted.
    var deletes: Bool {
        switch self {
        case .whole: true
        case .part: false
        case .page(_, let next): next == nil
        }
    }

    var event: ScopeChange.Event {
        switch self {
        case .whole(let entityTag, let cursor): .loaded(entityTag: entityTag, cursor: cursor, isComplete: true)
        case .part(let next): .loaded(entityTag: nil, cursor: next, isComplete: next == nil)
        // Keep no cursor, because the next load begins with the first page.
        case .page(_, let next): .loaded(entityTag: nil, cursor: nil, isComplete: next == nil)
        }
    }

    /// The greatest length of an entity tag or a cursor, in bytes.
    static let longestTag = 64 << 10

    /// - Throws: `valueTooLarge` if the entity tag or the cursor is too long.
    func checkLengths(_ name: String) throws(DataSourceError) {
        let texts: [String?] =
            switch self {
            case .whole(let entityTag, let cursor): [entityTag, cursor]
            case .part(let next), .page(_, let next): [next]
            }
        guard let length = texts.compactMap({ $0?.utf8.count }).first(where: { $0 > ListPart.longestTag }) else {
            return
        }
        throw DataSourceError(
            .valueTooLarge,
            "The server gave the scope \"\(name)\" an entity tag or a cursor of \(length) bytes. At most \(ListPart.longestTag) bytes are kept. Pass nil instead."
        )
    }
}

/// The state of a scope at the time of a request.
struct LoadBasis: Sendable {
    private let generation: Int
    /// The number of the answer that the store had at that time.
    var answer: Int64
    /// The ``ScopeFreshness/version`` at that time.
    fileprivate let version: Int64
    fileprivate let hasCursor: Bool

    init(_ freshness: ScopeFreshness) {
        (generation, hasCursor) = (freshness.generation, freshness.cursor != nil)
        (answer, version) = (freshness.answer, freshness.version)
    }

    /// - Throws: `storeReset` if the store was reset since the request; `scopeChanged` if another answer was stored since the
    ///   request.
    func check<Object: ManagedObject>(_ tier: PrivateTier, _ scope: SyncScope<Object>) throws(DataSourceError) {
        let root = tier.stack.root
        if root.generation != generation { throw RootTier.storeReset }
        guard !root.scopes.isWriting(scope.name), try tier.stored(scope)?.answer ?? 0 == answer else {
            throw DataSourceError(
                .scopeChanged,
                "Another answer for the scope \"\(scope.name)\" was stored since the request, so this answer may be older. Request the list again."
            )
        }
    }
}

extension StoredScope {
    var hasTag: Bool { entityTag != nil || cursor != nil }
}
