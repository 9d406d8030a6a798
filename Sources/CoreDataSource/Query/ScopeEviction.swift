public import Foundation

/// The objects of a scope that are deleted because they are too old or too many.
///
/// ```swift
/// let eviction = ScopeEviction(
///     maxAge: .seconds(30 * 86_400), maxCount: 500, by: \ContactEntity.birthday,
///     keeping: \.isFavorite == true)
/// let recent = SyncScope("recent", ContactEntity.self, evicting: eviction)
/// ```
///
/// The objects are deleted in the save of each answer that completes the list: a whole list, the last page, and
/// `.notModified`. An object is deleted even if the answer contains it. The delete rules apply to these deletions, but the
/// limit of deletions does not. The store has no timer: as long as no answer arrives, the objects stay.
///
/// The objects to keep are protected only from the eviction. If the list of the server lacks one of them, the object is
/// deleted. To keep such an object, define the predicate of the scope so that the object is not in scope.
///
/// If any object is evicted, the entity tag and the cursor of the scope are dropped, because the objects no longer match the
/// list of the server. So the next request gets the whole list, and evicts again. Let the server send no more than the app
/// keeps.
public struct ScopeEviction<Object: ManagedObject>: Sendable, Hashable {
    /// The age from which objects are deleted; nil if their age does not matter.
    public let maxAge: Duration?
    /// The largest number of objects; nil for any number.
    public let maxCount: Int?
    /// The objects that are neither deleted nor counted, such as objects that the user has marked; nil for none.
    public let kept: FetchPredicate<Object>?
    /// The order of the objects. The first objects stay.
    private let order: [FetchOrder<Object>]
    /// The attribute with the date of an object; nil if objects have no age.
    private let date: DateAttribute?

    private enum DateAttribute: Sendable, Hashable {
        case required(any KeyPath<Object, Date> & Sendable)
        case optional(any KeyPath<Object, Date?> & Sendable)

        private var keyPath: AnyKeyPath {
            switch self {
            case .required(let keyPath): keyPath
            case .optional(let keyPath): keyPath
            }
        }

        static func == (lhs: Self, rhs: Self) -> Bool { lhs.keyPath == rhs.keyPath }
        func hash(into hasher: inout Hasher) { hasher.combine(keyPath) }
    }

    /// Evicts objects by a date that each object has.
    ///
    /// ```swift
    /// let eviction = ScopeEviction(maxAge: .seconds(86_400), by: \MessageEntity.date)
    /// ```
    ///
    /// - Parameters:
    ///   - maxAge: The age, at the time of the request, from which objects are deleted; nil, the default, if their age
    ///     does not matter. A negative age counts as zero.
    ///   - maxCount: The largest number of objects; nil, the default, for any number. The objects with the newest dates
    ///     stay. Among objects with equal dates, the objects that were inserted last stay. A negative number counts as
    ///     zero.
    ///   - date: The attribute with the date.
    ///   - kept: The objects to keep. They do not count for `maxCount`. Nil, the default, for none.
    public init(
        maxAge: Duration? = nil, maxCount: Int? = nil, by date: any KeyPath<Object, Date> & Sendable,
        keeping kept: FetchPredicate<Object>? = nil
    ) {
        self.init(maxAge, maxCount, order: [.descending(date)], date: .required(date), kept: kept)
    }

    /// Evicts objects by an optional date. An object without a date has no age, and counts as older than all objects with a
    /// date.
    ///
    /// ```swift
    /// let eviction = ScopeEviction(maxCount: 500, by: \ContactEntity.birthday)
    /// ```
    ///
    /// - Parameters:
    ///   - maxAge: The same as for a date that each object has.
    ///   - maxCount: The same as for a date that each object has.
    ///   - date: The attribute with the date.
    ///   - kept: The objects to keep. They do not count for `maxCount`. Nil, the default, for none.
    public init(
        maxAge: Duration? = nil, maxCount: Int? = nil, by date: any KeyPath<Object, Date?> & Sendable,
        keeping kept: FetchPredicate<Object>? = nil
    ) {
        self.init(maxAge, maxCount, order: [.descending(date)], date: .optional(date), kept: kept)
    }

    /// Evicts the last objects of an order.
    ///
    /// ```swift
    /// let eviction = ScopeEviction<ContactEntity>(
    ///     maxCount: 500, order: [.descending(\.age)])
    /// ```
    ///
    /// - Parameters:
    ///   - maxCount: The largest number of objects. A negative number counts as zero.
    ///   - order: The order of the objects. The first objects stay. Among objects that compare equal, the objects that
    ///     were inserted last stay.
    ///   - kept: The objects to keep. They do not count for `maxCount`. Nil, the default, for none.
    public init(maxCount: Int, order: [FetchOrder<Object>], keeping kept: FetchPredicate<Object>? = nil) {
        self.init(nil, maxCount, order: order, date: nil, kept: kept)
    }

    private init(
        _ maxAge: Duration?, _ maxCount: Int?, order: [FetchOrder<Object>], date: DateAttribute?,
        kept: FetchPredicate<Object>?
    ) {
        (self.maxAge, self.maxCount) = (maxAge.map { max($0, .zero) }, maxCount.map { max(0, $0) })
        (self.order, self.date, self.kept) = (order, date, kept)
    }

    /// The request for the objects that are too old; nil if objects have no age.
    ///
    /// - Parameters:
    ///   - predicate: The predicate of the scope; nil for all objects.
    ///   - requestedAt: The time of the request.
    func oldObjects(in predicate: FetchPredicate<Object>?, at requestedAt: Date) -> ObjectRequest<Object>? {
        guard let maxAge, let date else { return nil }
        let end = requestedAt - maxAge / .seconds(1)
        let isOld: FetchPredicate<Object> =
            switch date {
            case .required(let keyPath): keyPath <= end
            case .optional(let keyPath): keyPath != nil && keyPath <= end
            }
        return ObjectRequest(where: candidates(in: predicate).map { $0 && isOld } ?? isOld)
    }

    /// The request for the objects that count for `maxCount`. The first objects of the request are deleted first. Objects that
    /// compare equal are in the order of their creation.
    func countedObjects(in predicate: FetchPredicate<Object>?) -> ObjectRequest<Object> {
        let reversed = order.map { order in
            var order = order
            order.isAscending.toggle()
            return order
        }
        return ObjectRequest(where: candidates(in: predicate), order: reversed)
    }

    /// The objects of a scope that are not kept.
    private func candidates(in predicate: FetchPredicate<Object>?) -> FetchPredicate<Object>? {
        guard let kept else { return predicate }
        return predicate.map { $0 && !kept } ?? !kept
    }
}
