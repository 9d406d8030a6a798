public import ManagedModel

/// The model and the container of a context, so that code which gets a context needs nothing else.
extension ManagedObjectContext {
    /// The model of the container.
    ///
    /// **Isolation**: that of the context. The model is a value and can be sent anywhere.
    public var model: ManagedObjectModel { stack.layout.model }

    /// The container of the context; nil once it is gone.
    ///
    /// A context does not keep its container alive.
    ///
    /// **Isolation**: that of the context. The container can be sent anywhere.
    public var container: PersistentContainer? { stack.container }
}
