public import Foundation
internal import RowStore

/// The sections of a list and their order.
///
/// ```swift
/// var request = ObjectRequest(MessageEntity.self, order: [.descending(\.date)])
/// request.sections = .days(of: \.date, in: calendar)
/// let list = try mail.list(request)
/// for section in list.sections {
///     print(section.name, section.numberOfObjects)  // 2026-11-28 2
/// }
/// ```
///
/// A list is sorted first by section, and then by the order of its request. Fetches ignore the sections of a request.
///
/// **Complexity**: the store sorts the rows for ``by(_:isAscending:)`` with an attribute, and for ``titles(_:orderedBy:)``. The
/// store also sorts the rows for days, weeks and months if the request's order begins with the same attribute in the same
/// direction. For other sections, the list sorts its rows in memory, and keeps all matching rows even if it has a limit.
public struct ListSections<Object: ManagedObject>: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case property(SectionPath<Object>)
        case periods(CalendarPeriods.Unit, FetchOrder<Object>, Calendar)
        case firstLetters(FetchOrder<Object>, FetchCollation?)
        case titles(FetchOrder<Object>, FetchOrder<Object>)
    }

    let kind: Kind
    /// Nil means the direction of the request's order if this order begins with the attribute of the sections, and
    /// otherwise ascending.
    let isAscending: Bool?

    private init(_ kind: Kind, _ isAscending: Bool?) {
        (self.kind, self.isAscending) = (kind, isAscending)
    }

    /// Makes a section for each value of a property.
    ///
    /// ```swift
    /// request.sections = .by(\.isRead, isAscending: false)
    /// ```
    ///
    /// A to-one relationship makes a section for each related object, in the order of their creation, and a first section for
    /// the objects without a related object. ``ListSection/objectID`` is the related object. To sort the sections by an
    /// attribute of the related object, use ``titles(_:orderedBy:)``.
    ///
    /// - Parameters:
    ///   - keyPath: An attribute or a to-one relationship. It can belong to the object itself, or to an object that is reached
    ///     through to-one relationships. A property that is computed from the object's own attributes is also allowed.
    ///   - isAscending: Whether the least value comes first. By default, the sections have the direction of the
    ///     request's order if this order begins with the same attribute, and are ascending otherwise.
    public static func by(_ keyPath: PartialKeyPath<Object>, isAscending: Bool? = nil) -> ListSections {
        ListSections(.property(SectionPath(keyPath: keyPath)), isAscending)
    }

    /// Makes a section for each day.
    ///
    /// ```swift
    /// request.sections = .days(of: \.date, in: calendar)
    /// ```
    ///
    /// The name of a section is its day, for example `2026-11-28`. ``ListSection/interval`` is the time interval of the day.
    /// Objects without a date are in a section with an empty name. If clocks are set back from after midnight to before
    /// midnight, the time until the second midnight belongs to the day that has already begun.
    ///
    /// When a day ends in the time zone of the calendar, the list makes a report with the kind ``ListReason/Kind/dayChange``.
    /// After this report, draw titles such as "today" again.
    ///
    /// - Parameters:
    ///   - keyPath: An attribute with dates.
    ///   - calendar: The calendar with its time zone. Later changes of the time zone are ignored: if the user travels, make
    ///     another list.
    ///   - isAscending: Whether the first day comes first. By default, the sections have the direction of the request's
    ///     order if this order begins with the same attribute, and are ascending otherwise.
    public static func days<Value>(
        of keyPath: KeyPath<Object, Value>, in calendar: Calendar, isAscending: Bool? = nil
    ) -> ListSections {
        ListSections(.periods(.day, .ascending(keyPath), calendar), isAscending)
    }

    /// Makes a section for each week. A week begins with the calendar's `firstWeekday`.
    ///
    /// ```swift
    /// request.sections = .weeks(of: \.date, in: calendar)
    /// ```
    ///
    /// The name of a section is the first day of the week. Everything else is the same as for ``days(of:in:isAscending:)``.
    ///
    /// - Parameters:
    ///   - keyPath: An attribute with dates.
    ///   - calendar: The calendar with its time zone. Later changes of the time zone are ignored.
    ///   - isAscending: Whether the first week comes first. The default has the same meaning as in
    ///     ``days(of:in:isAscending:)``.
    public static func weeks<Value>(
        of keyPath: KeyPath<Object, Value>, in calendar: Calendar, isAscending: Bool? = nil
    ) -> ListSections {
        ListSections(.periods(.week, .ascending(keyPath), calendar), isAscending)
    }

    /// Makes a section for each month.
    ///
    /// ```swift
    /// request.sections = .months(of: \.date, in: calendar)
    /// ```
    ///
    /// The name of a section is its month, for example `2026-11`. Everything else is the same as for
    /// ``days(of:in:isAscending:)``.
    ///
    /// - Parameters:
    ///   - keyPath: An attribute with dates.
    ///   - calendar: The calendar with its time zone. Later changes of the time zone are ignored.
    ///   - isAscending: Whether the first month comes first. The default has the same meaning as in
    ///     ``days(of:in:isAscending:)``.
    public static func months<Value>(
        of keyPath: KeyPath<Object, Value>, in calendar: Calendar, isAscending: Bool? = nil
    ) -> ListSections {
        ListSections(.periods(.month, .ascending(keyPath), calendar), isAscending)
    }

    /// Makes a section for each capitalized first letter, and a last section `#` for strings that do not begin with a letter.
    ///
    /// ```swift
    /// request.sections = .firstLetters(of: \.subject, swedish)
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: An attribute of strings.
    ///   - collation: The order of the letters. A letter with marks has its own section, unless the collation treats it
    ///     as equal to the plain letter. The default is the order of Unicode, in which marks are ignored.
    ///   - isAscending: Whether the first letter comes first. By default, the sections have the direction of the
    ///     request's order if this order begins with the same attribute, and are ascending otherwise.
    public static func firstLetters<Value>(
        of keyPath: KeyPath<Object, Value>, _ collation: FetchCollation? = nil, isAscending: Bool? = nil
    ) -> ListSections {
        ListSections(.firstLetters(.ascending(keyPath), collation), isAscending)
    }

    /// Makes a section for each value of an attribute, in the order of another attribute.
    ///
    /// ```swift
    /// request.sections = .titles(
    ///     \.group?.name, orderedBy: .descending(\.group?.gid))
    /// ```
    ///
    /// Objects with the same title but different values of the other attribute are in different sections.
    ///
    /// - Parameters:
    ///   - keyPath: The attribute with the names of the sections.
    ///   - order: The order of the sections. Sections that compare equal are sorted by their titles.
    public static func titles<Value>(
        _ keyPath: KeyPath<Object, Value>, orderedBy order: FetchOrder<Object>
    ) -> ListSections {
        ListSections(.titles(.ascending(keyPath), order), nil)
    }
}

/// A key path to the value that divides a list into sections.
///
/// Guarded by: nothing, because a key path is immutable. Only a key path whose subscript index is a mutable reference would
/// need a lock, and sections do not support such key paths.
struct SectionPath<Object: ManagedObject>: @unchecked Sendable, Hashable {
    let keyPath: PartialKeyPath<Object>
}
