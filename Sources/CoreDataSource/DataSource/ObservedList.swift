#if canImport(SwiftUI)
public import SwiftUI

/// The objects of a request in a SwiftUI view. The view is drawn again after each save that changes the objects.
///
/// ```swift
/// // Not compiled here: needs SwiftUI.
/// struct ContactsView: View {
///     @ObservedList(
///         ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
///     )
///     private var contacts
///
///     var body: some View {
///         List(contacts) { contact in Text(contact.name) }
///     }
/// }
///
/// ContactsView().listSource(contacts)
/// ```
///
/// The wrapper makes a ``LiveList`` when the view appears, and keeps the list as long as SwiftUI keeps the view's
/// state. If the request or the data source of the view changes, the wrapper makes a new list. `$contacts` is the list,
/// with its sections, objects and reasons.
///
/// The package is built and tested on Linux. There, this code was compiled with a replacement for SwiftUI. The code has not
/// been run with SwiftUI yet.
///
/// **Isolation**: the main actor.
@propertyWrapper
public struct ObservedList<Object: ManagedObject>: DynamicProperty {
    @Environment(\.listSource) private var source
    @State private var holder = Holder()
    private let request: ObjectRequest<Object>

    /// Observes the objects of a request.
    ///
    /// - Parameter request: The predicate, order, sections, limit and cursor, as in ``EntityDataSource/list(_:sectionBy:)``.
    public init(_ request: ObjectRequest<Object>) {
        self.request = request
    }

    /// The rows of the list; empty if the list cannot be made. See ``error``.
    @MainActor public var wrappedValue: ListSnapshot<Object> {
        if let list = holder.list { return list.snapshot }
        guard let source else { ObservedList.refuse() }
        return ListSnapshot(emptyIn: source.mainTier)
    }

    /// The list; nil if the list cannot be made.
    @MainActor public var projectedValue: LiveList<Object>? { holder.list }

    /// The reason why the list cannot be made, such as `unknownAttribute`; nil if the list was made. When the view is updated,
    /// the wrapper tries to make the list again.
    @MainActor public var error: (any Error)? { holder.error }

    /// Makes the list of the request if the view does not have it yet. SwiftUI calls this method before it draws the view.
    public nonisolated mutating func update() {
        guard let source else { ObservedList.refuse() }
        let (holder, request) = (holder, request)
        MainActor.assumeIsolated { holder.follow(request, source) }
    }

    private static func refuse() -> Never {
        preconditionFailure(
            "A view with an @ObservedList of \(Object.self) has no data source. Call listSource(_:) on a view above.")
    }

    /// The list of a view.
    @MainActor
    private final class Holder {
        private(set) var list: LiveList<Object>?
        private(set) var error: (any Error)?
        private weak var source: EntityDataSource?

        nonisolated init() {}

        func follow(_ request: ObjectRequest<Object>, _ source: EntityDataSource) {
            if let list, self.source === source, list.shows(request) { return }
            do {
                (list, error) = (try source.list(request), nil)
                self.source = source
            } catch {
                (list, self.error) = (nil, error)
            }
        }
    }
}

extension EnvironmentValues {
    /// The data source that makes the lists of the views.
    fileprivate var listSource: EntityDataSource? {
        get { self[ListSourceKey.self] }
        set { self[ListSourceKey.self] = newValue }
    }
}

private struct ListSourceKey: EnvironmentKey {
    static let defaultValue: EntityDataSource? = nil
}

extension View {
    /// Sets the data source that makes the lists of all views inside this view.
    ///
    /// ```swift
    /// // Not compiled here: needs SwiftUI.
    /// ContactsView().listSource(contacts)
    /// ```
    ///
    /// - Parameter source: Any data source of the container. The entities of the lists may belong to other data sources.
    public func listSource(_ source: EntityDataSource) -> some View { environment(\.listSource, source) }
}
#endif
